"""Sentences in CoNLL-U, and short ways to read them."""

import io

from spacy_mindroot.conllu import Sentence, read_pieces

FULL = (
    "# newdoc\n# sent_id = s-1\n# text = Vámonos al mar.\n"
    "0.1\tYa\tya\tADV\t_\t_\t_\t_\t0:root\t_\n"
    "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tKey=a\n"
    "1\tVamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t0:root\t_\n"
    "2\tnos\tnosotros\tPRON\tP\tCase=Acc\t1\tobj\t1:obj\t_\n"
    "3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_\n"
    "4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\t_\n"
    "5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl\tSpaceAfter=No\n"
    "5.1\tx\tx\tX\t_\t_\t_\t_\t1:dep\t_\n"
    "6\t.\t.\tPUNCT\tF\t_\t1\tpunct\t1:punct\t_\n\n"
)
PLAIN = "1\tGo\tgo\tVERB\t_\t_\t0\tROOT\t_\t_\n2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"


def pieces(text):
    """All pieces of a file with this content."""
    raw = text if isinstance(text, bytes) else text.encode("utf8")
    return list(read_pieces(io.BytesIO(raw), "in.conllu"))


def sentences_in(text):
    """The sentences of a file with this content."""
    return [piece for piece in pieces(text) if isinstance(piece, Sentence)]


def sentence(text):
    """The only sentence of a file with this content."""
    (found,) = (piece for piece in pieces(text) if isinstance(piece, Sentence))
    return found


def row(number, head="0", columns=10):
    """The line of a word."""
    return "\t".join([str(number), "a", "a", "X", "_", "_", head, "dep", "_", "_"][:columns]) + "\n"


def joined(found):
    """The bytes of all pieces."""
    return b"".join(piece if isinstance(piece, bytes) else piece.to_bytes() for piece in found)


_TAGS = ("VERB", "NOUN", "V-fin", "$.", "_")
_FEATS = ("_", "Case=Nom|pos=adj", "B=1|A=2", "fem", "Case=Acc|Case=Gen", "Case=Nom|Number=Sing")
_MISC = (
    "_",
    "SpaceAfter=No",
    "Z=1|HeadProb=0.1|A=2",
    "SpacesAfter=\\s\\n",
    "SpacesAfter=\\u2028",
    "SpacesAfter=\u3000",
)
_LABELS = ("obj", "nmod:poss", "su_bj", "SUBJ", "---")
_TEN = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]


def random_file(rng, name, *, plain=False):
    """The bytes of a file with one to three good sentences; all kinds of line ends, columns, lines and cells.

    Words are named after the file, so that no word is twice in a folder. plain: CoNLL-U's ten columns.
    """
    end = rng.choice(["\n", "\n", "\r\n"])
    columns, header, most = _TEN, [], 0
    if not plain and rng.random() < 0.5:
        columns = rng.choice([_TEN, [*_TEN, "MINE"], ["DEPREL", "MINE", "HEAD", "FORM", "ID"], rng.sample(_TEN, 10)])
        header, most = [f"# global.columns = {' '.join(columns)}"], 3
    blocks = []
    for number in range(1, rng.randint(1, 3) + 1):
        more = rng.randint(0, most)
        lines = [] if rng.random() < 0.4 else [f"# sent_id = {name}-{number}", "# text = \ttext"][: rng.randint(1, 2)]
        rows = _random_rows(rng, f"{name}{number}")
        rows = [{**dict.fromkeys(columns, "_"), **row} for row in rows]
        lines += ["\t".join([*(row[column] for column in columns), *["A0"] * more]) for row in rows]
        blocks.append(lines)
    if rng.random() < 0.2:
        blocks.insert(rng.randint(0, len(blocks)), ["# a comment alone"])
    if rng.random() < 0.2:
        row = {**dict.fromkeys(columns, "_"), "ID": "0.1", "FORM": "..."}
        blocks.insert(rng.randint(0, len(blocks)), ["# no words", "\t".join(row[column] for column in columns)])
    blocks[0][:0] = header
    text = (end + end).join(end.join(lines) for lines in blocks) + rng.choice(["", end, end * 2, end * 3])
    return ("\ufeff" * (rng.random() < 0.2) + text).encode()


def _random_rows(rng, name):
    n = rng.randint(1, 4)
    root = rng.randint(1, n)
    rows = []
    last = 0
    if rng.random() < 0.2:
        rows.append({"ID": "0.1", "FORM": "e"})
    for word in range(1, n + 1):
        if word > last and word < n and rng.random() < 0.3:
            last = word + 1
            form = rng.choice(["du", f"{name}w{word}{name}w{last}"])
            rows.append({"ID": f"{word}-{last}", "FORM": form, "MISC": rng.choice(_MISC)})
        rows.append(
            {
                "ID": str(word),
                "FORM": f"{name}w{word}",
                "LEMMA": rng.choice(["_", "l", "a b", "a\u00a0b"]),
                "UPOS": rng.choice(_TAGS),
                "XPOS": rng.choice(_TAGS),
                "FEATS": rng.choice(_FEATS),
                "HEAD": "0" if word == root else str(root),
                "DEPREL": rng.choice(["root", "ROOT", "root"] if word == root else _LABELS),
                "MISC": rng.choice(_MISC),
            }
        )
        if rng.random() < 0.1:
            rows.append({"ID": f"{word}.1", "FORM": "e"})
    return rows
