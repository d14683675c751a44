"""The folder of a build: steps whose results are kept, so that an interrupted build goes on, and the files they made.

`pipeline.json` has the results, and under `files` the SHA-256 of each file that a step has made. Only these files are
ever replaced or removed, and only as long as they are unchanged. The folder may come from somebody else: no symbolic
link in it is followed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

import srsly

from ...errors import CorpusError

__all__ = ["OF_STEPS", "Steps", "digest"]

_MADE_BY = "spacy mindroot build"
OF_STEPS = "of steps"  # among the facts: what single steps depend on, by their names
_UNFINISHED = re.compile(r"unfinished-\w+")


class Steps:
    """The results of a chain of steps, in a folder.

    What a step makes lies in a folder `unfinished-...` until the step is done. After an error it stays there, to be
    looked at, and the next run removes it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results: dict[str, Any] = {}
        self._path = folder / "pipeline.json"
        self._files: dict[str, str] = {}
        self._unfinished = ""
        self._facts: Any = None
        self._again = False
        self._missing = [path for path in (folder, *folder.parents) if not path.exists()]
        if folder.exists() and not folder.is_dir():
            raise CorpusError(f"{folder} is a file. Choose a new folder.")
        if not self._missing and any(folder.iterdir()):
            self._read()

    def _read(self) -> None:
        try:
            found = None if self._path.is_symlink() else srsly.read_json(self._path)
        except (OSError, ValueError):
            found = None
        if not (isinstance(found, dict) and found.get("made_by") == _MADE_BY and isinstance(found.get("files"), dict)):
            raise CorpusError(
                f"The folder {self.folder} is not empty, and not from an earlier build. Choose a new one."
            )
        del found["made_by"]
        self._files = {name: digest for name, digest in found.pop("files").items() if _is_below(name)}
        unfinished = str(found.pop("unfinished", ""))
        self._unfinished = unfinished if _UNFINISHED.fullmatch(unfinished) else ""
        self._facts = found.pop("facts", None)
        self.results = found

    def begin_unfinished(self) -> Path:
        """Return an empty folder for what is not finished."""
        self._remove_unfinished()
        self.folder.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix="unfinished-", dir=self.folder))
        self._unfinished = path.name
        self._write()
        return path

    def _remove_unfinished(self) -> None:
        if self._unfinished:
            shutil.rmtree(self.folder / self._unfinished, ignore_errors=True)  # if it is a link, nothing happens
        self._unfinished = ""

    def abandon(self) -> None:
        """Remove what was begun if no step has finished yet."""
        if not self._files:
            self._remove_unfinished()
            self._path.unlink(missing_ok=True)
            for path in self._missing:
                with suppress(OSError):
                    path.rmdir()

    def remaining(self, facts: Mapping[str, Any], plan: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the steps of a plan that have to be taken. Nothing is changed yet.

        facts (Mapping): Everything that the results depend on. If it has changed, all steps are taken again, but if it
            is only what OF_STEPS has under the name of a step, then this step and those that follow.
        plan (Mapping): For each step, the files and folders that it makes, the most important first.
        RAISES (CorpusError): If one of them would replace what is not from this command, or has been changed.
        """
        valid = self._valid(facts, plan)
        done = takewhile(lambda step: step in self.results and self._is_there(plan[step]), valid)
        steps = list(plan)[len(list(done)) :]
        for names in plan.values():
            self._check_places(names)
        self.check(name for step in steps for name in plan[step])
        self.check(self._outdated(valid, plan))
        return steps

    def begin(self, facts: Mapping[str, Any], plan: Mapping[str, Sequence[str]], *given: str) -> None:
        """Put what has been prepared in its place: `given`. If facts have changed, remove what depends on them."""
        self.check(given)
        valid = self._valid(facts, plan)
        if len(valid) < len(plan):
            self._remove(self._outdated(valid, plan))
            self.results = {step: self.results[step] for step in valid if step in self.results}
        self._facts = _as_read(facts)
        self._place(given)

    def _valid(self, facts: Mapping[str, Any], plan: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the first steps of a plan: those that depend on nothing that has changed.

        Facts of steps that the plan no longer has do not count.
        """
        before, now = dict(self._facts) if isinstance(self._facts, dict) else {}, _as_read(facts)
        of_steps_before, of_steps = before.pop(OF_STEPS, {}), now.pop(OF_STEPS, {})
        if before != now:
            return []
        gone = of_steps_before.keys() - plan.keys()
        same = takewhile(lambda step: of_steps_before.get(step) == of_steps.get(step), plan)
        return list(takewhile(lambda step: not gone or step in self.results, same))

    def _outdated(self, valid: Sequence[str], plan: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the files, except wheels, that steps have made, if not all of them are valid, and not in these."""
        if len(valid) == len(plan):
            return []
        kept = {file for step in valid for name in plan[step] for file in self._below(name)}
        made = (name for name in self._files if name.partition("/")[0] not in ("corpus", "config.cfg", "dist"))
        return [name for name in made if name not in kept]

    def run(self, name: str, make: Callable[[Path], Any], names: Sequence[str] = ()) -> tuple[Any, bool]:
        """Return the result of a step, and whether it was made now.

        make (Callable): Makes the result, which must be JSON, and files in the folder that it is given. It is not
            called if the result and the first of its files are there, and no step before was made again.
        """
        if not self._again and name in self.results and self._is_there(names):
            return self.results[name], False
        self._again = True
        result = make(self.begin_unfinished())
        self._place(names)
        self.results[name] = result
        self._write()
        return result, True

    def _place(self, names: Iterable[str]) -> None:
        """Let the unfinished files take their places."""
        unfinished = self.folder / self._unfinished
        made = {path.relative_to(unfinished).as_posix(): path for path in unfinished.rglob("*") if path.is_file()}
        self.check([*names, *made])
        self._remove([*names, *made])
        self._files |= {name: digest(path) for name, path in made.items()}
        self._write()
        for name, path in made.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            path.replace(self.folder / name)
        self._remove_unfinished()
        self._write()

    def check(self, names: Iterable[str]) -> None:
        """Raise CorpusError if one of these is there, or has a file in it, that is not as a step has made it."""
        for name in names:
            self._check_places([name])
            path = self.folder / name
            if path.exists() and not self._below(name):
                raise _stranger(path)
            for each in (path, *path.rglob("*")):
                known = self._files.get(each.relative_to(self.folder).as_posix())
                is_own = each.is_dir() if known is None else each.is_file() and known == digest(each)
                if each.exists() and not is_own:
                    raise _stranger(each)

    def _check_places(self, names: Iterable[str]) -> None:
        """Raise CorpusError if a link or a file is in the way of these, or OSError if a folder can't be written to."""
        for name in names:
            path = self.folder / name
            above = [self.folder / parent for parent in PurePosixPath(name).parents[:-1]]
            link = next((each for each in (*above, path, *path.rglob("*")) if each.is_symlink()), None)
            if link is not None:
                raise CorpusError(f"{link} is a symbolic link, which this command never makes. Remove it.")
            file = next((each for each in above if each.exists() and not each.is_dir()), None)
            if file is not None:
                raise CorpusError(f"{file} is a file where this command makes a folder. Move it to another place.")
            for each in above:
                if each.exists() and not os.access(each, os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(each))

    def _remove(self, names: Iterable[str]) -> None:
        """Remove files that steps have made, and the folders that are empty then."""
        for name in [each for root in list(names) for each in self._below(root)]:
            (self.folder / name).unlink(missing_ok=True)
            self._files.pop(name, None)
            for parent in PurePosixPath(name).parents[:-1]:
                with suppress(OSError):
                    (self.folder / parent).rmdir()

    def _below(self, name: str) -> list[str]:
        return [file for file in self._files if file == name or file.startswith(f"{name}/")]

    def _is_there(self, names: Sequence[str]) -> bool:
        files = self._below(names[0]) if names else []
        return not names or (bool(files) and all((self.folder / file).is_file() for file in files))

    def _write(self) -> None:
        """Write pipeline.json. It is replaced when the new one is complete."""
        facts = {} if self._facts is None else {"facts": self._facts}
        data = {"made_by": _MADE_BY, **facts, **self.results, "files": dict(sorted(self._files.items()))}
        data |= {"unfinished": self._unfinished} if self._unfinished else {}
        part = self._path.with_name(f".{self._path.name}.part")
        part.unlink(missing_ok=True)
        with open(part, "x", encoding="utf8") as file:  # "x" follows no link
            file.write(srsly.json_dumps(data, indent=2) + "\n")
        part.replace(self._path)


def _stranger(path: Path) -> CorpusError:
    return CorpusError(
        f"{path} would be replaced, but it is not from this command, or has been changed since. Move it to another "
        "place, or choose another folder."
    )


def _as_read(facts: Mapping[str, Any]) -> Any:
    """Return facts as JSON has them: tuples are lists, say."""
    return srsly.json_loads(srsly.json_dumps(facts))


def _is_below(name: str) -> bool:
    """Whether the name of a file, as in pipeline.json, is that of a file in the folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name


def digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
