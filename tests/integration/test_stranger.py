"""A stranger's package: a connector, a door and a kind of ask by files of its own alone."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from prolocutor import Assistant
from prolocutor.config.file_check import check
from prolocutor.config.file_keys import file_schema
from prolocutor.config.loading import load
from prolocutor.plugins.authoring.reference import describe
from tests.unit.doors.test_asgi_app import ask

POINTS = """
[prolocutor.connectors]
orchard = orchard_connector:Orchard
[prolocutor.doors]
orchard = orchard_door:OrchardDoor
[prolocutor.asks]
fruit = orchard_ask:Fruit
"""
FILE = """
doors: {orchard: {path: /fence}}
asks: {fruit: {kinds: [apple, plum]}}
skills:
  shop: {connector: orchard, call: {ripe: 7}}
"""


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(Path(__file__).with_name("stranger"), site)
    info = site / "orchard-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: orchard\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])


def written(folder: Path, text: str) -> Path:
    file = folder / "assistant.yaml"
    file.write_text(text)
    return file


async def test_they_work_in_a_turn(tmp_path: Path) -> None:
    file = written(tmp_path, FILE)
    doors = list(load(file).doors.values())

    async with Assistant.from_file(file, store="memory:") as assistant:
        app = assistant.asgi(doors)
        said = [
            json.loads((await ask(app, "/fence", {"user": "ann", "text": text}))[1])["reply"]
            for text in ("hello", "plum")
        ]

    assert said == ["Which fruit?", "7 plums for you."]


def test_their_keys_are_checked(tmp_path: Path) -> None:
    wrong = FILE.replace("path", "pth").replace("kinds", "kind").replace("7", "100")

    faults = [str(fault).partition(":")[2] for fault in check(written(tmp_path, wrong)).faults]

    assert faults == [
        "2: doors.orchard.pth: unknown key; did you mean 'path'?",
        "3: asks.fruit.kind: unknown key; did you mean 'kinds'?",
        "5: skills.shop.call.ripe: expected a whole number of at most 99, found 100",
    ]


@pytest.mark.parametrize(
    ("subject", "meaning"),
    [
        ("connectors.orchard", "How many are ripe."),
        ("doors.orchard", "Where the gate is."),
        ("asks.fruit", "The fruits that there are."),
    ],
)
def test_their_keys_are_in_the_schema_and_the_reference(subject: str, meaning: str) -> None:
    assert meaning in json.dumps(file_schema())
    assert meaning in describe([subject])
