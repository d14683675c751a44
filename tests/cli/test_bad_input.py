"""A hundred bad inputs and more for each command: exit status 1 or 2, a message, and never a traceback.

Inputs are made systematically: paths that are not what they should be, files cut off or altered at many places, arrays
and cells of every wrong kind, outputs that can't be written, options out of range.
"""

import gzip
import io
import json
import os
import socket
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest
import spacy
import srsly
from spacy.cli import app
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

GOOD = "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n2\ton\ton\tADV\t_\t_\t1\tadvmod\t_\t_\n\n"


@spacy.Language.component("scores_for_bad_input")
def scores_for_bad_input(doc):
    doc._.arc_scores = [np.eye(len(doc), len(doc) + 1)]
    return doc


class Inputs:
    """Makes bad inputs below a folder. Each is (id, arguments)."""

    def __init__(self, folder, demo):
        self.folder = folder
        self.found = {}
        self.demo = demo.read_bytes()
        self.good = {
            "npz": self.write("good.npz", self.demo),
            "conllu": self.write("good.conllu", GOOD.encode()),
            "spacy": folder / "good.spacy",
            "model": folder / "model",
        }
        vocab = spacy.blank("xx").vocab
        docs = [Doc(vocab, words=["Go", "on"], heads=[0, 0], deps=["ROOT", "advmod"])] * 20
        DocBin(docs=docs).to_disk(self.good["spacy"])
        nlp = spacy.blank("xx")
        nlp.add_pipe("scores_for_bad_input")
        nlp.to_disk(self.good["model"])

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def paths(self, suffix):
        """Inputs that are no files of the kind at all."""
        random = np.random.default_rng(1).bytes(3000)
        folder = self.folder / f"paths{suffix}"
        if folder.exists():
            return self.found[suffix]
        folder.mkdir()
        contents = {
            "random": random,
            "zeros": bytes(5000),
            "gzip": gzip.compress(b"1\ta\n" * 100),
            "truncated-gzip": gzip.compress(random)[:-50],
            "utf-16": GOOD.encode("utf-16"),
            "latin-1": "1\té\n\n".encode("latin-1"),
            "prose": b"Once upon a time\nthere was a parser.\n",
            "json": b'{"a": [1, 2]}',
            "png": b"\x89PNG\r\n\x1a\n" + random,
            "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07builtin\x94.",
            "zip": zipped({"readme.txt": b"hello"}),
            "empty-zip": zipped({}),
            "one-byte": b"\x00",
            "long-line": b"x" * 1_000_000,
            "esc": b"\x1b[2J\x1b]0;title\x07\t\t\n",
        }
        found = {name: self.write(f"paths{suffix}/{name}{suffix}", content) for name, content in contents.items()}
        (folder / f"loop{suffix}").symlink_to(f"loop{suffix}")
        (folder / f"dangling{suffix}").symlink_to("nowhere")
        (folder / f"folder{suffix}").mkdir(exist_ok=True)
        server = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(folder)  # names of sockets are short
        try:
            server.bind(f"socket{suffix}")
        finally:
            os.chdir(here)
            server.close()
        found |= {
            name: folder / f"{name}{suffix}"
            for name in ("loop", "dangling", "folder", "missing", "a/missing", "socket")
        }
        found["not-utf-8"] = folder / os.fsdecode(b"missing\xff" + suffix.encode())
        found["long-name"] = folder / ("x" * 300 + suffix)
        found["below-a-file"] = found["prose"] / f"x{suffix}"
        found["slash"] = f"{found['prose']}/"
        if suffix == ".npz":  # to the others, the current folder
            found["empty-name"] = ""
        if os.geteuid():
            found["unreadable"] = self.write(f"paths{suffix}/unreadable{suffix}", b"x")
            found["unreadable"].chmod(0)
        self.found[suffix] = list(found.items())
        return self.found[suffix]

    def outputs(self, source, *, folder=False):
        """Places that can't be written."""
        base = self.folder / "outputs"
        base.mkdir(exist_ok=True)
        (base / "file").write_text("text")
        (base / "folder").mkdir(exist_ok=True)
        for name, target in [("loop", "loop"), ("lost", "nowhere/lost"), ("input", source)]:
            if not (base / name).is_symlink():
                (base / name).symlink_to(target)
        if not (base / "hard").exists() and source.is_file():
            (base / "hard").hardlink_to(source)
        found = {
            "loop": base / "loop",
            "below-a-file": base / "file" / "x",
            "long-name": base / ("x" * 300),
            "in-proc": "/proc/nowhere/x",
            "symbolic-link-to-input": base / "input",
        }
        if folder:
            found |= {"is-a-file": base / "file"}
        else:
            found |= {
                "hard-link-to-input": base / "hard",
                "no-folder": base / "nowhere" / "x",
                "lost-link": base / "lost",
                "is-a-folder": base / "folder",
                "not-utf-8": base / os.fsdecode(b"nowhere\xff/x"),
            }
        return list(found.items())

    def score_files(self):
        """Score files cut off, with arrays of every wrong kind, and with headers that claim too much."""
        found = {}
        for k, cut in enumerate(np.linspace(1, len(self.demo) - 1, 20).astype(int).tolist()):
            found[f"cut-{k}"] = self.demo[:cut]
        arrays = {
            "lens": np.array([2, 1]),
            "arc": np.array([5, 0, 1, 4, 3, 0, 2, 0], dtype=np.float32),
            "words": np.frombuffer(b"a\nb\nc", dtype=np.uint8),
            "labels": np.frombuffer(b"root\nobj", dtype=np.uint8),
            "label_best": np.zeros(8, dtype=np.uint8),
            "heads": np.array([0, 1, 0]),
            "deprels": np.array([0, 1, 0], dtype=np.uint8),
        }
        wrong = {
            "objects": np.array([{}, None], dtype=object),
            "strings": np.array(["a", "b", "c"]),
            "bytes": np.array([b"a", b"\xff"]),
            "complex": np.zeros(8, dtype=complex),
            "dates": np.zeros(8, dtype="datetime64[s]"),
            "records": np.zeros(3, dtype=[("a", int)]),
            "scalar": np.array(1),
            "two-dimensions": np.zeros((2, 4), dtype=np.uint8),
            "short": np.zeros(1, dtype=np.uint8),
            "negative": np.full(3, -7),
            "huge": np.array([2**62, 2**62]),
        }
        for name in arrays:
            for kind, array in wrong.items():
                found[f"{name}-{kind}"] = saved(arrays | {name: array})
        for name in ("lens", "arc"):
            found[f"no-{name}"] = saved({other: array for other, array in arrays.items() if other != name})
        for kind, value in (("nan", np.nan), ("inf", np.inf)):
            found[f"arc-{kind}"] = saved(arrays | {"arc": np.full(8, value)})
        found["no-root"] = saved(arrays | {"arc": np.array([-np.inf, 0, 1, -np.inf, 3, 0, 2, 0])})
        found["no-heads"] = saved(arrays | {"arc": np.full(8, -np.inf)})
        found["more-than-there-is"] = saved({"lens": np.array([2**26]), "arc": np.zeros(12)})
        found["sums-overflow"] = saved({"lens": np.full(2**10, 2**30 - 1), "arc": np.zeros(12)})
        for kind, header in {
            "header-claims-too-much": "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }",
            "header-negative": "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }",
            "header-overflows": f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**62}, {2**62}), }}",
            "header-code": "__import__('os').getcwd()",
            "header-empty": "",
            "header-no-shape": "{'descr': '<f4', 'fortran_order': False}",
            "header-no-dtype": "{'descr': 'nonsense', 'fortran_order': False, 'shape': (8,), }",
            "header-long": "{" + " " * 60_000 + "}",
        }.items():
            found[kind] = zipped({"lens.npy": npy(arrays["lens"]), "arc.npy": npy(header)})
        for kind, member in {
            "no-magic": b"hello",
            "magic-alone": b"\x93NUMPY",
            "empty": b"",
            "version-9": b"\x93NUMPY\x09\x00",
        }.items():
            found[f"member-{kind}"] = zipped({"lens.npy": npy(arrays["lens"]), "arc.npy": member})
        found["members-without-npy"] = zipped({"lens": b"2", "arc": b"0"})
        return [(name, self.write(f"scores/{name}.npz", content)) for name, content in found.items()]

    def conllu_files(self, *, any_bytes=False):
        """Files that are not CoNLL-U; with `any_bytes`, without those whose cells `repair` and `vote` cope with."""
        found = {}
        rows = [line.split("\t") for line in GOOD.split("\n")[:2]]
        out_of_range = ("column-6-9-1", "column-6--1-2", "column-6-999999999-30")
        cells = {
            0: ["0", "2", "x", "", "1-1", "2-1", "1.1", "-1", "01", "1 "],
            6: ["9", "-1", "x", "", "1.5", "0x1", "1e9", "9" * 30, "½", " 0"],
        }
        for column, values in cells.items():
            for value in values:
                changed = [[*row] for row in rows]
                changed[0][column] = value
                found[f"column-{column}-{value.strip()[:9] or 'blank'}-{len(value)}"] = joined(changed)
        for columns in (1, 2, 9, 11, 20):
            found[f"columns-{columns}"] = joined([(row * 2)[:columns] for row in rows])
        found["spaces"] = joined(rows).replace("\t", "    ")
        found["comment-inside"] = joined(rows[:1])[:-1] + "# comment\n" + joined(rows[1:])
        found["comment-alone-then-nonsense"] = "# comment\nnonsense\n\n"
        found["blank-line"] = joined(rows).replace("\n\n", "\n \n\n")
        found["swapped"] = joined(rows[::-1])
        found["range-too-long"] = "1-5\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + joined(rows)
        encoded = {name: text.encode() for name, text in found.items()}
        encoded["not-utf-8"] = joined(rows).encode().replace(b"Go", b"\xff\xfe\xfa")
        encoded["second-sentence"] = GOOD.encode() + b"1\tx\n\n"
        for k, cut in enumerate(range(3, 27, 2)):
            encoded[f"cut-{k}"] = GOOD.encode()[:cut]
        if any_bytes:
            encoded = {name: each for name, each in encoded.items() if name not in ("not-utf-8", *out_of_range)}
        return [(name, self.write(f"conllu/{name}.conllu", content)) for name, content in encoded.items()]

    def tree_files(self):
        """CoNLL-U whose trees are malformed, or that has no trees: nothing to audit, something to repair."""
        found = {"cycle": GOOD.replace("0\troot", "2\tdep"), "two-roots": GOOD.replace("1\tadvmod", "0\troot")}
        found |= {"no-sentences": "", "comments-alone": "# a\n# b\n\n", "empty-lines": "\n\n\n"}
        return [(name, self.write(f"trees/{name}.conllu", text.encode())) for name, text in found.items()]

    def spacy_files(self):
        content = self.good["spacy"].read_bytes()
        found = {f"cut-{k}": content[:cut] for k, cut in enumerate(np.linspace(1, len(content) - 1, 12).astype(int))}
        packed = {
            "empty-dict": {},
            "list": [],
            "number": 5,
            "nothing": None,
            "no-tokens": {"attrs": [], "tokens": b"", "spaces": b"", "lengths": b"", "strings": []},
            "odd-lengths": {"attrs": [65], "tokens": b"xy", "spaces": b"1", "lengths": b"\1\0\0\0", "strings": []},
        }
        found |= {name: zlib.compress(srsly.msgpack_dumps(value)) for name, value in packed.items()}
        found["bytes-twice"] = zlib.compress(content)
        return [(name, self.write(f"docs/{name}.spacy", each)) for name, each in found.items()]

    def models(self):
        config = (self.good["model"] / "config.cfg").read_text("utf8")
        files = {
            "no-config": ("config.cfg", None),
            "empty-config": ("config.cfg", b""),
            "broken-config": ("config.cfg", b"[nlp\npipeline = ["),
            "binary-config": ("config.cfg", b"\xff\x00\xfe"),
            "unknown-factory": ("config.cfg", config.replace("scores_for_bad_input", "nowhere").encode()),
            "unknown-language": ("config.cfg", config.replace('lang = "xx"', 'lang = "nowhere"').encode()),
            "no-pipeline": (
                "config.cfg",
                config.replace('pipeline = ["scores_for_bad_input"]', "pipeline = []").encode(),
            ),
            "no-meta": ("meta.json", None),
            "broken-meta": ("meta.json", b'{"lang"'),
            "list-meta": ("meta.json", b"[]"),
            "broken-strings": ("vocab/strings.json", b"[1, 2"),
            "broken-tokenizer": ("tokenizer", b"\xc1nonsense"),
        }
        found = {}
        for name, (file, content) in files.items():
            folder = self.folder / "models" / name
            folder.mkdir(parents=True)
            spacy.load(self.good["model"]).to_disk(folder)
            if content is None:
                (folder / file).unlink()
            else:
                (folder / file).write_bytes(content)
            found[name] = folder
        (self.folder / "models" / "empty").mkdir()
        blank = self.folder / "models" / "not-initialized"
        nlp = spacy.blank("xx")
        nlp.add_pipe("arc_scorer")
        nlp.to_disk(blank)
        return [
            *found.items(),
            ("empty", self.folder / "models" / "empty"),
            ("not-initialized", blank),
            ("no-package", "no_such_package"),
            ("another-package", "numpy"),
            ("dots", "a..b"),
        ]


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def saved(arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(content):
    """An array, or a header of our own, in numpy's format."""
    if isinstance(content, np.ndarray):
        buffer = io.BytesIO()
        np.save(buffer, content)
        return buffer.getvalue()
    header = content.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(32)


def joined(rows):
    return "".join("\t".join(row) + "\n" for row in rows) + "\n"


@pytest.fixture
def inputs(checkout, tmp_path_factory):
    return Inputs(tmp_path_factory.mktemp("bad input"), checkout / "assets" / "demo.npz")


def options(command):
    """Wrong options of all kinds, after what else the command needs."""
    common = [["--nonsense"], ["--help=x"], ["-Z"]]
    each = {
        "decode": [
            *([option, value] for option in ("--kbest", "--show") for value in ("-1", "x", "1.5", "", "1e3", "٣x")),
            ["--kbest", "0"],
            ["--kbest"],
            ["--confidence=yes"],
            ["--nbest", "2"],
        ],
        "audit": [
            *([option, value] for option in ("--most", "--seed") for value in ("-1", "x", "1.5", "", "1e3")),
            ["--surface-tokens=x"],
            ["--out"],
        ],
        "score": [["--surface-tokens=x"], ["--words", "x"]],
        "init-config": [["--force=x"], ["--lang"]],
        "repair": [*(["--demoted-label", label] for label in ("root", "a b", "", "_", "ROOT:x", "a\tb")), ["--report"]],
        "vote": [
            *(
                ["--weights", weights]
                for weights in ("", "x", "1", "1,2,3", "1;2", "1,", "nan,1", "inf,1", "-1,1", "0,0")
            ),
            *(["--demoted-label", label] for label in ("root", "a b", "", "_", "ROOT:x", "a\tb")),
        ],
    }
    return [*each[command], *common]


def bad_inputs(command, inputs):
    """Pairs of id and arguments."""
    good, out = inputs.good, inputs.folder / "out"
    npz, model, corpus = good["npz"], good["model"], good["conllu"]
    if command == "decode":
        yield from ((f"scores-{name}", [path, out]) for name, path in [*inputs.paths(".npz"), *inputs.score_files()])
        yield from ((f"out-{name}", [npz, path]) for name, path in inputs.outputs(npz))
        base = [npz]
    elif command == "audit":
        yield from ((f"scores-{name}", [path]) for name, path in [*inputs.paths(".npz"), *inputs.score_files()])
        yield from ((f"model-{name}", [path, corpus]) for name, path in inputs.models())
        yield from ((f"out-{name}", [npz, "--out", path]) for name, path in inputs.outputs(npz, folder=True))
        corpora = [*inputs.paths(".spacy"), *inputs.spacy_files(), *inputs.conllu_files(), *inputs.tree_files()]
        yield from ((f"corpus-{name}", [model, path, "--out", out]) for name, path in corpora)
        yield from [("npz-and-corpus", [npz, corpus]), ("corpus-npz", [model, npz]), ("corpus-alone", [corpus])]
        yield from [("out-is-model", [model, corpus, "--out", model]), ("none", []), ("three", [npz, corpus, corpus])]
        base = [npz]
    elif command == "score":
        file = out.with_suffix(".npz")
        yield from ((f"model-{name}", [path, corpus, file]) for name, path in inputs.models())
        corpora = [*inputs.paths(".spacy"), *inputs.paths(".conllu"), *inputs.spacy_files()]
        corpora += [*inputs.conllu_files(), *inputs.tree_files()]
        yield from ((f"corpus-{name}", [model, path, file]) for name, path in corpora)
        yield from ((f"out-{name}", [model, corpus, path]) for name, path in inputs.outputs(corpus))
        yield from ((f"npz-{name}", [model, corpus, f"{path}.npz"]) for name, path in inputs.outputs(corpus)[1:4])
        yield from [("none", []), ("one", [model]), ("two", [model, corpus]), ("dash", [model, corpus, "-"])]
        base = [model, corpus, file]
    elif command == "init-config":
        languages = [
            "",
            " ",
            ".",
            "..",
            "/",
            "e n",
            "en ",
            "english",
            "XX",
            "xx ",
            "../en",
            "en.stop_words",
            "en\n",
            "qq",
            "1",
            "-",
            "ä",
        ]
        yield from ((f"lang-{k}", ["--lang", lang]) for k, lang in enumerate(languages))
        controls = [
            *range(1, 32),
            0x7F,
            0x85,
            0xAD,
            0x61C,
            0x200E,
            0x200F,
            0x2028,
            0x2029,
            *range(0x202A, 0x202F),
            0xFEFF,
        ]
        yield from ((f"transformer-{code:x}", ["--transformer", f"a{chr(code)}b"]) for code in controls)
        yield from ((f"transformer-{k}", ["--transformer", name]) for k, name in enumerate(["", " ", "${paths.train}"]))
        names = [
            "parser",
            "mind_root",
            "senter tagger",
            "Senter",
            "senter;tagger",
            "[]",
            "tok2vec",
            "\n",
            "senter,x",
            "é",
        ]
        yield from ((f"pipeline-{k}", ["--pipeline", name]) for k, name in enumerate(names) if name.strip())
        goals = ["", "speed", "Accuracy", "acc", "1", "accuracy,efficiency", " accuracy", "\n"]
        yield from ((f"optimize-{k}", ["--optimize", goal]) for k, goal in enumerate(goals))
        yield from ((f"out-{name}", [path]) for name, path in inputs.outputs(corpus))
        yield from [("exists", [corpus]), ("exists-npz", [npz]), ("two", [out, out])]
        base = []
    elif command == "repair":
        files = [*inputs.paths(".conllu"), *inputs.conllu_files(any_bytes=True)]
        yield from ((f"in-{name}", [path, out]) for name, path in files)
        yield from ((f"check-{name}", [path, "--check"]) for name, path in inputs.paths(".conllu"))
        fine = ("symbolic-link-to-input", "hard-link-to-input", "is-a-folder")  # the file may be repaired in its place
        yield from ((f"out-{name}", [corpus, path]) for name, path in inputs.outputs(corpus) if name not in fine)
        yield from ((f"report-{name}", [corpus, out, "--report", path]) for name, path in inputs.outputs(corpus))
        yield from [("report-is-out", [corpus, out, "--report", out]), ("no-out", [corpus])]
        yield from [("check-and-out", [corpus, out, "--check"]), ("none", []), ("three", [corpus, out, out])]
        yield ("report-is-in", [corpus, "--check", "--report", corpus])
        base = [corpus, out]
    else:
        files = [*inputs.paths(".conllu"), *inputs.conllu_files(any_bytes=True)]
        yield from ((f"first-{name}", [path, corpus, "--out", out]) for name, path in files)
        yield from ((f"second-{name}", [corpus, path, "--out", out]) for name, path in files)
        yield from ((f"out-{name}", [corpus, corpus, "--out", path]) for name, path in inputs.outputs(corpus))
        other = inputs.write("other.conllu", GOOD.replace("Go", "Come").encode())
        more = inputs.write("more.conllu", GOOD.encode() * 2)
        yield from [("other-words", [corpus, other, "--out", out]), ("more", [corpus, more, "--out", out])]
        yield from [("one", [corpus, "--out", out]), ("no-out", [corpus, corpus]), ("none", ["--out", out])]
        yield ("two-dashes", ["-", "-", "--out", out])
        base = [corpus, corpus, "--out", out]
    yield from (("options " + " ".join(wrong), [*base, *wrong]) for wrong in options(command))


@pytest.mark.parametrize("command", ["decode", "audit", "score", "init-config", "repair", "vote"])
def test_bad_input_is_a_message(command, inputs):
    runner = CliRunner()
    before = {path: path.read_bytes() for path in inputs.good.values() if path.is_file()}
    failures, tried = [], 0
    for name, arguments in bad_inputs(command, inputs):
        tried += 1
        result = runner.invoke(app, ["mindroot", command, *map(str, arguments)], input="")
        raised = result.exception is not None and not isinstance(result.exception, SystemExit)
        if raised or result.exit_code not in (1, 2) or not result.output.strip() or "Traceback" in result.output:
            failures.append(f"{name}: exit {result.exit_code}, {result.exception!r}, {result.output[-200:]!r}")
        for path, content in before.items():
            if path.read_bytes() != content:
                failures.append(f"{name}: {path} has changed")
                path.write_bytes(content)
    assert not failures, "\n".join(failures)
    assert tried >= 100
    assert not [path for path in inputs.folder.rglob("*.part")]


# Imports the commands once, and runs each in a process of its own, as from a shell: arguments, where standard output
# goes, and the files for both streams come from standard input, and exit statuses go to standard output.
PROCESSES = """
import json, os, sys
from spacy_mindroot.cli import mindroot
for arguments, target, out, err in json.load(sys.stdin):
    process = os.fork()
    if process:
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
        continue
    for number, path in ((1, target or out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
    if target == "/dev/null":  # for: closed
        os.close(1)
        sys.stdout = sys.__stdout__ = None  # as Python finds it
    sys.argv = ["spacy_mindroot", *arguments]
    mindroot(prog_name="python -m spacy_mindroot")
"""


def run_all(commands, tmp_path, *, target="", cwd=None):
    """Run commands. Return exit status, standard output and standard error of each, as bytes.

    target (str): "closed", or a file to which standard output goes.
    """
    files = [(tmp_path / f"out-{number}", tmp_path / f"err-{number}") for number in range(len(commands))]
    target = "/dev/null" if target == "closed" else target
    jobs = [
        [list(map(os.fsdecode, command)), target, *map(str, pair)]
        for command, pair in zip(commands, files, strict=True)
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROCESSES], input=json.dumps(jobs), capture_output=True, text=True, timeout=600, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    statuses = list(map(int, done.stdout.split()))
    assert len(statuses) == len(commands), done
    return [
        (status, out.read_bytes() if out.exists() else b"", err.read_bytes())
        for status, (out, err) in zip(statuses, files, strict=True)
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
def test_names_that_are_not_utf_8(inputs, tmp_path):
    """Also on a terminal that has ASCII alone."""
    folder = os.fsencode(inputs.folder) + b"/\xff\xfe"
    os.mkdir(folder)
    for name, content in [(b"s\xff.npz", inputs.demo), (b"c\xff.conllu", GOOD.encode())]:
        with open(folder + b"/" + name, "wb") as file:
            file.write(content)
    decode = [b"decode", b"s\xff.npz", b"o\xff.conllu", b"--show", b"1"]
    commands = [
        decode,
        [b"audit", b"s\xff.npz", b"--out", b"a\xff"],
        [b"repair", b"c\xff.conllu", b"r\xff.conllu"],
        [b"vote", b"c\xff.conllu", b"c\xff.conllu", b"--out", b"v\xff.conllu"],
        [b"init-config", b"i\xff.cfg"],
    ]
    wrong = [[b"decode", b"no\xff"], [b"repair", b"no\xff", b"--check"], [b"audit", b"no\xff", b"c\xff.conllu"]]
    found = run_all(commands + wrong, tmp_path, cwd=folder)
    assert [status for status, *_ in found[: len(commands)]] == [0] * len(commands), found
    assert sorted(os.listdir(folder)) == sorted(
        [b"s\xff.npz", b"c\xff.conllu", b"o\xff.conllu", b"a\xff", b"r\xff.conllu", b"v\xff.conllu", b"i\xff.cfg"]
    )
    for status, _, errors in found[len(commands) :]:
        assert status in (1, 2) and errors and b"Traceback" not in errors, errors
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "spacy_mindroot", *decode]
    done = subprocess.run(command, capture_output=True, timeout=600, cwd=folder, env=ascii_only)
    assert done.returncode == 0, done.stderr.decode("utf8", "replace")


@pytest.mark.skipif(sys.platform == "win32", reason="processes can't be forked there")
@pytest.mark.parametrize("stream", ["closed", "full"])
def test_standard_output_that_takes_nothing(inputs, stream, tmp_path):
    good = inputs.good
    commands = [
        ["decode", good["npz"]],
        ["decode", good["npz"], "-"],
        ["audit", good["npz"]],
        ["init-config"],
        ["repair", good["conllu"], "-"],
        ["vote", good["conllu"], good["conllu"], "--out", "-"],
    ]
    if stream == "full" and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    found = run_all(commands, tmp_path, target="closed" if stream == "closed" else "/dev/full")
    for command, (status, _, errors) in zip(commands, found, strict=True):
        assert b"Traceback" not in errors and b"Exception ignored" not in errors, (command, errors)
        if stream == "full" or command[-1] == "-":
            assert status == 1 and errors.startswith(b"Error: "), (command, errors)
    if stream == "closed":  # from a shell: a process that never had it
        shell = ["sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "spacy_mindroot", *map(str, commands[4])]
        done = subprocess.run(shell, capture_output=True, text=True, timeout=600)
        assert done.returncode == 1 and done.stderr.startswith("Error: "), done.stderr
