"""Any plug-in can be deleted, folder and lines in pyproject.toml: the rest works without it."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "prolocutor"
PLUGINS = sorted(one.name for one in (PACKAGE / "plugins").iterdir() if one.name[0] != "_")

FILES = {
    "assistant.yaml": "name: small\nskills:\n  echo: {call: 'agents:echo'}\n",
    "agents.py": (
        "def echo(request):\n"
        "    said = request['utterances'][-1]['text']\n"
        "    return [{'text': f'You said: {said}', 'confidence': 1.0}]\n"
    ),
}
WITHOUT = """
import importlib, pkgutil, sys
import prolocutor
from prolocutor.cli.main import run

for module in pkgutil.walk_packages(prolocutor.__path__, "prolocutor."):
    if not module.name.startswith("prolocutor.plugins.") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert run(["--help"]) == run(["check", "assistant.yaml"]) == 0
sys.exit(run(["serve", "assistant.yaml", "--port", "0", "--store", "memory:", "--once"]))
"""


def halves(names: list[str]) -> list[set[str]]:
    """Return sets of names: of any two names one set has the first without the second."""
    return [
        {name for place, name in enumerate(names) if (place >> bit & 1) == side}
        for bit in range((len(names) - 1).bit_length())
        for side in (0, 1)
    ]


HALVES = halves(PLUGINS)


@pytest.mark.parametrize(
    "deleted",
    [
        *HALVES[:2],
        set(PLUGINS),
        *(pytest.param(halve, marks=pytest.mark.long) for halve in HALVES[2:]),
    ],
    ids=lambda deleted: "-".join(sorted(deleted))[:60],
)
def test_the_rest_works_without(deleted: set[str], tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    lay_out_without(deleted, tmp_path / "site")
    child = subprocess.Popen(
        [sys.executable, "-c", WITHOUT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    with child:
        assert child.stdout is not None
        url = next((found[0] for line in child.stdout if (found := _URL.search(line))), None)
        reply = said(url) if url else None
        _, errors = child.communicate(timeout=60)

    assert errors == ""
    assert child.returncode == 0
    assert reply == "You said: hello"


def lay_out_without(deleted: set[str], site: Path) -> None:
    """Make a folder of packages with links to all but these plug-ins, and their entry points."""
    plugins = site / "prolocutor" / "plugins"
    plugins.mkdir(parents=True)
    for kept in {*PACKAGE.iterdir()} - {PACKAGE / "plugins"}:
        (plugins.parent / kept.name).symlink_to(kept)
    for kept in (PACKAGE / "plugins").iterdir():
        if kept.name not in deleted:
            (plugins / kept.name).symlink_to(kept)
    (site / "prolocutor_demo").symlink_to(ROOT / "src" / "prolocutor_demo")
    info = site / "prolocutor-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        importlib.metadata.distribution("prolocutor").metadata.as_string()
    )
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    gone = re.compile(rf"prolocutor\.plugins\.({'|'.join(deleted)})\b")
    lines = []
    for group, entries in groups.items():
        lines += [
            f"[{group}]",
            *(f"{name} = {at}" for name, at in entries.items() if not gone.match(at)),
        ]
    (info / "entry_points.txt").write_text("\n".join(lines))


def said(url: str) -> str:
    """Return what an assistant says to a hello."""
    body = json.dumps({"user_id": "ann", "payload": "hello"}).encode()
    request = Request(url, body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=30) as response:
        return str(json.load(response)["response"])


_URL = re.compile(r"http://127\.0\.0\.1:\d+")
