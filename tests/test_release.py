"""The metadata and the workflows: what the package imports is declared, and actions are pinned."""

import configparser
import re
import sys

import pytest
from test_architecture import PACKAGE, modules

# Packages that only a command with an extra imports, and that extra.
OPTIONAL = {
    "udtools": "evaluate", "distributed": "dask", "dask": "dask", "pyarrow": "parquet", "fsspec": "remote",
    "cairosvg": "pictures", "starlette": "annotate", "uvicorn": "annotate", "fastwarc": "warc", "resiliparse": "warc",
    "cassis": "inception",
}  # fmt: skip
ACTIONS = re.compile(r"^\s*(?:- )?uses: (\S+)(.*)$", re.M)


@pytest.fixture(scope="module")
def settings(checkout):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(checkout / "setup.cfg", "utf8")
    return parser


@pytest.fixture(scope="module")
def workflows(checkout):
    folder = checkout / ".github" / "workflows"
    if not folder.is_dir():
        pytest.skip("an sdist has no workflows")
    return {path.name: path.read_text("utf8") for path in sorted(folder.glob("*.yml"))}


def test_all_imported_packages_are_declared(checkout, settings):
    lines = settings["options"]["install_requires"].strip().splitlines()
    declared = {re.split(r"[<>=!~ ]", line)[0].lower() for line in lines}
    imported = set()
    for _, names in modules(checkout):
        imported |= {name.partition(".")[0].lower() for name in names}
    assert imported - set(sys.stdlib_module_names) - {PACKAGE} - OPTIONAL.keys() == declared
    assert OPTIONAL.keys() <= imported
    for package, extra in OPTIONAL.items():
        required = {re.split(r"[<>=]", line)[0] for line in settings["options.extras_require"][extra].split()}
        assert package in required or {"dask": "distributed", "cassis": "dkpro-cassis"}.get(package) in required


def test_actions_are_pinned_by_commit_with_the_version_beside_it(workflows):
    found = [(name, *use) for name, text in workflows.items() for use in ACTIONS.findall(text)]
    assert len(found) > 10
    for name, action, comment in found:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), (name, action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), (name, action, comment)
    commits = {action.partition("@")[0]: set() for _, action, _ in found}
    for _, action, comment in found:
        commits[action.partition("@")[0]].add((action, comment))
    assert all(len(pins) == 1 for pins in commits.values()), commits


def test_workflows_have_no_permissions_but_those_of_their_jobs(workflows):
    for name, text in workflows.items():
        assert re.search(r"^permissions: \{\}$", text, re.M), name
        assert text.count("runs-on:") + 1 == len(re.findall(r"^ *permissions:", text, re.M)), name
    writing = [
        (name, line.strip()) for name, text in workflows.items() for line in text.splitlines() if ": write" in line
    ]
    assert writing == [("release.yml", "id-token: write # trusted publishing")]
