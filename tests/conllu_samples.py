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
