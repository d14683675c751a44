"""Makes a wheel of a pipeline with `spacy package` and `build`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import srsly
from packaging.version import InvalidVersion, Version
from spacy.cli.package import has_build
from thinc.api import Config

from ...errors import MindRootError
from .card import Description
from .config import lexicons_of
from .training import one_thread, reason

__all__ = ["PackagingError", "build_wheel", "check_description", "check_tools", "package_name", "wheel_name"]

_EPOCH = "315532800"  # the first second of 1980, the least that zip files know, unless the environment has another
_NEEDS = "A wheel is made with the package `build`. Install it with: pip install 'spacy-mindroot[build]'"


class PackagingError(MindRootError):
    """A pipeline can't be made into a wheel."""


def check_description(about: Description) -> Description:
    """Return a description with its version as wheels spell it."""
    name = about.name
    if not (name.isascii() and f"x{name}".isidentifier() and name == name.strip("_") and "__" not in name and name):
        raise PackagingError(
            f"{name!r} can't be the name of a package. Use letters of ASCII, digits and single underscores."
        )
    for what, text in asdict(about).items():
        if not text.isprintable():
            raise PackagingError(f"The {what.replace('licence', 'license')} is {text!r}. Give one line of text.")
    try:
        return replace(about, version=str(Version(about.version)))
    except InvalidVersion as error:
        raise PackagingError(
            f"{about.version!r} can't be the version of a package. Use numbers such as 1.0.2 (PEP 440)."
        ) from error


def package_name(name: str, lang: str) -> str:
    """Return the name of a pipeline without its language, which spaCy adds: it can't load a package `en_en_x`."""
    while name.startswith(f"{lang}_"):
        name = name.removeprefix(f"{lang}_")
    return name


def wheel_name(lang: str, about: Description) -> str:
    """Return the name of the file of a wheel."""
    return f"{lang}_{about.name}-{about.version}-py3-none-any.whl"


def check_tools() -> None:
    """Raise PackagingError unless wheels can be made."""
    if not has_build():
        raise PackagingError(_NEEDS)


def build_wheel(
    model: Path,
    folder: Path,
    meta: Mapping[str, Any],
    card: str,
    licence_file: Path | None = None,
    code: Path | None = None,
) -> Path:
    """Write a pipeline, with its card, as a wheel. Its folder stays as it is.

    licence_file (Optional[Path]): The licence of the data, which goes into the wheel as LICENSES_SOURCES.
    code (Optional[Path]): A Python file that the pipeline needs, which goes into the wheel.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "pipeline"
        shutil.copytree(model, source)
        srsly.write_json(source / "meta.json", dict(meta))
        (source / "README.md").write_text(card, encoding="utf8")
        _forget_paths(source / "config.cfg")
        if licence_file is not None:
            shutil.copyfile(licence_file, source / "LICENSES_SOURCES")
        own_code = () if code is None else ("--code", code)
        said = _call("spacy", "package", source, work, "--build", "none", "--force", *own_code)
        projects = [path.parent for path in Path(work).glob("*/setup.py")]
        for project in projects:
            # Without isolation, nothing is downloaded. It needs setuptools 70.1, which comes with the extra `build`.
            for options in (("--no-isolation",), ()):
                said += _call("build", "--wheel", *options, project)
                if list(project.glob("dist/*.whl")):
                    break
        wheels = list(Path(work).glob("*/dist/*.whl"))
        if len(wheels) != 1:
            raise PackagingError(f"`spacy package` and `build` made no wheel:\n{reason(said)}")
        wheel = folder / wheels[0].name
        shutil.copyfile(wheels[0], wheel)
    return wheel


def _call(module: str, *arguments: object) -> str:
    """Run a module, and return what it says. The times in a wheel do not depend on when it is made."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    env = {"SOURCE_DATE_EPOCH": _EPOCH} | one_thread()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


def _forget_paths(path: Path) -> None:
    """Remove the paths of the training data and of a lexicon from a config.

    They are of the machine that trained the pipeline, which has the table of the lexicon.
    """
    config = Config().from_disk(path, interpolate=False)
    for name in {"train", "dev", "distilled"} & config.get("paths", {}).keys():
        config["paths"][name] = None
    if lexicons_of(config):
        config["initialize"]["before_init"] = None
    config.to_disk(path)
