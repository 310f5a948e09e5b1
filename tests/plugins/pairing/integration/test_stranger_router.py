"""A router and a ranker of another package, installed by pip, with their options in YAML."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.pages import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "add-a-router.md"
AGENTS = """\
def weather(request):
    return {"text": "It rains.", "confidence": 0.5}

def trains(request):
    return {"text": "Platform 4.", "confidence": 0.5}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the page, installed in a folder of its own by pip."""
    for name in ("pip", "hatchling"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path_factory.mktemp("word_router")
    for one in blocks(PAGE):
        if one.file:
            (folder / one.file).write_text(one.text)
    (folder / "agents.py").write_text(AGENTS)
    words = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    installing = [sys.executable, "-m", "pip", "install", *words, "--target"]
    subprocess.run([*installing, str(folder / "site"), str(folder)], check=True, timeout=120)
    return folder


def prolocutor(site: Path, *words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "prolocutor", *words],
        cwd=site,
        env={**os.environ, "PYTHONPATH": str(site / "site"), "XDG_DATA_HOME": str(site)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_it_routes_and_ranks_by_the_options_of_the_file(site: Path) -> None:
    words = ("ask", "Which platform is it?", "--assistant", "assistant.yaml", "--json")

    status, told = prolocutor(site, *words, "--store", "memory:")

    reply = json.loads(told[told.index("{") :])["reply"]
    assert status == 0
    assert reply["text"] == "Platform 4."
    assert reply["active_skill"] == "trains"


@pytest.mark.parametrize(
    ("written", "wrong", "words"),
    [
        ("surely: 0.8", "surely: 2", "assistant.yaml:4: skill_selector.surely: expected a number"),
        ("surely: 0.8", "surly: 0.8", "surly: unknown key; did you mean 'surely'?"),
        ("enough: 40", "enough: none", "response_selector.enough: expected a whole number"),
        ("  words: {", "  budget: top:1 #", "the key words is missing"),
    ],
)
def test_its_errors_have_file_line_and_key(
    site: Path, written: str, wrong: str, words: str, tmp_path: Path
) -> None:
    text = (site / "assistant.yaml").read_text().replace(written, wrong, 1)
    file = site / f"wrong_{tmp_path.name}" / "assistant.yaml"
    file.parent.mkdir()
    file.write_text(text)

    status, told = prolocutor(site, "check", str(file))

    assert status == 1
    assert words in told


def test_the_schema_and_the_reference_have_its_options(site: Path) -> None:
    _, schema = prolocutor(site, "schema")
    _, table = prolocutor(site, "reference", "routers.words")

    assert "The words of each agent." in schema
    assert "| `surely` | number from 0 to 1 | `0.9` | How sure a word makes. |" in table
