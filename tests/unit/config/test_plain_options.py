"""Options of another distribution may be plain Structs: typed, described, with `build`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from prolocutor.config.file_check import check
from prolocutor.config.file_keys import file_schema
from prolocutor.config.loading import load
from prolocutor.connectors.connector_catalog import make_options
from prolocutor.contracts.connector import Replies, Request, ServiceContext
from prolocutor.contracts.store_options import StoreContext
from prolocutor.dialog import plain
from prolocutor.errors import ConfigError
from prolocutor.stores.sqlite.sqlite_store import MemoryStore
from prolocutor.stores.store_catalog import open_store

FILE = """
skills:
  parrot:
    connector: parrot
    call: {greeting: Ahoy, loudness: 3}
"""


class Parrot:
    def __init__(self, options: "ParrotLine", name: str) -> None:
        self.options, self.name = options, name

    async def send(self, requests: Sequence[Request]) -> Replies:
        return [plain.check([{"text": self.options.greeting, "confidence": 1.0}])]

    async def aclose(self) -> None:
        pass


class ParrotLine(msgspec.Struct, frozen=True, kw_only=True):
    """A parrot that greets."""

    greeting: Annotated[str, Meta(min_length=1, description="What it says.")]
    loudness: Annotated[int, Meta(ge=0, le=11, description="How loud it is.")] = 5

    def build(self, context: ServiceContext) -> Parrot:
        return Parrot(self, context.name)


class ClayStore(msgspec.Struct, frozen=True, kw_only=True):
    """A store on clay."""

    url: Annotated[str, Meta(description="Where the clay lies.")]

    def build(self, context: StoreContext) -> Any:
        return MemoryStore()


class Alphabet(msgspec.Struct, frozen=True, kw_only=True):
    """A selector that does not say at which stage it stands."""

    def build(self, context: object) -> Any:
        return None


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Install a distribution with a connector, a store, a selector, and what cannot be loaded."""
    module: Any = ModuleType("plain_options")
    module.ParrotLine, module.ClayStore, module.Alphabet = ParrotLine, ClayStore, Alphabet
    monkeypatch.setitem(sys.modules, "plain_options", module)
    (tmp_path / "broken_package.py").write_text("raise RuntimeError('out of order')")
    folder = tmp_path / "birds-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: birds\nVersion: 1.0\n")
    points = (
        "[prolocutor.connectors]\nparrot = plain_options:ParrotLine\nbroken = broken_package:X\n"
        "[prolocutor.stores]\nclay = plain_options:ClayStore\n"
        "[prolocutor.selectors]\nalphabet = plain_options:Alphabet\n"
        "[prolocutor.doors]\nbroken = broken_package:X\n"
    )
    (folder / "entry_points.txt").write_text(points)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def checked(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "a.yaml").write_text(text)
    return check(str(tmp_path / "a.yaml"), environ={}).lines()


def test_a_connector_needs_no_class_variables(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE)

    service = load(tmp_path / "a.yaml", environ={}).pipeline.skills[0]

    assert make_options(service.call) == ParrotLine(greeting="Ahoy", loudness=3)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("{greeting: Ahoy, loudnes: 3}", "loudnes: unknown key; did you mean 'loudness'?"),
        ("{greeting: Ahoy, loudness: 12}", "loudness: expected a whole number of at most 11"),
        ("{loudness: 3}", "greeting"),
    ],
)
def test_its_errors_are_those_of_any_options(tmp_path: Path, wrong: str, told: str) -> None:
    (line,) = checked(tmp_path, FILE.replace("{greeting: Ahoy, loudness: 3}", wrong))

    assert "a.yaml:5: skills.parrot.call" in line
    assert told in line


def test_its_schema_has_defaults_and_bounds() -> None:
    (_, _, own) = file_schema()["$defs"]["parrot"]["anyOf"]

    assert own["properties"]["loudness"]["default"] == 5
    assert own["properties"]["loudness"]["description"] == "How loud it is."


def test_a_store_may_have_its_url_alone() -> None:
    assert isinstance(open_store("clay://hill"), MemoryStore)


def test_what_a_selector_lacks_is_said(tmp_path: Path) -> None:
    (line,) = checked(tmp_path, FILE + "skill_selector: {alphabet: 3}\n")

    assert "the selector 'alphabet' has no 'stage'" in line


@pytest.mark.parametrize(
    "text",
    [FILE.replace("connector: parrot", "connector: broken"), FILE + "doors: [broken]\n"],
    ids=["connector", "door"],
)
def test_a_broken_package_is_named_where_it_is_used(tmp_path: Path, text: str) -> None:
    (line,) = checked(tmp_path, text)

    assert "a.yaml:" in line
    assert "cannot be loaded: RuntimeError: out of order" in line


def test_an_unknown_store_is_told() -> None:
    with pytest.raises(ConfigError, match="there is no store 'cly'; did you mean 'clay'"):
        open_store("cly://hill")
