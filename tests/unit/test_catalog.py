"""A catalog finds what has a name among the entry points of installed distributions."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prolocutor.catalog import Catalog
from prolocutor.errors import BadInput, ConfigError, MissingExtra

THINGS = Catalog[Callable[..., Any]]("thing", "prolocutor.things", key="thing")

ENTRY_POINTS = """
[prolocutor.things]
fraction = fractions:Fraction
method = fractions:Fraction.from_float
absent = no_such_library:Thing [things]
faulty = fractions:Fractoin
moved = email.doors.page:Page

[prolocutor.connectors]
http = fractions:Fraction
"""


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Install a distribution that has things."""
    folder = tmp_path / "shop-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def test_what_has_a_name_is_made() -> None:
    assert THINGS.make("fraction", 1, 2) == THINGS.load("method")(0.5)


def test_the_names_are_those_of_the_entry_points() -> None:
    assert set(THINGS.names()) == {"fraction", "method", "absent", "faulty", "moved"}


def test_another_distribution_takes_no_name_of_ours() -> None:
    connectors = Catalog[type]("connector", "prolocutor.connectors")

    assert connectors.load("http").__module__ == "prolocutor.connectors.http"


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("fractoin", ConfigError, "thing: there is no thing 'fractoin'; did you mean 'fraction'?"),
        ("x", ConfigError, "thing: there is no thing 'x'; there are "),
        (
            "absent",
            MissingExtra,
            "the thing 'absent' needs 'no_such_library': pip install 'shop[things]'",
        ),
        ("faulty", ConfigError, "the thing 'faulty' cannot be loaded"),
        (
            "moved",
            ConfigError,
            "the thing 'moved' should be in 'email.doors.page', which is not there: shop was",
        ),
    ],
)
def test_what_cannot_be_had_is_said(name: str, error: type[ConfigError], told: str) -> None:
    with pytest.raises(error) as refused:
        THINGS.load(name)
    assert told in str(refused.value)
    assert refused.value.key == "thing"


def test_what_a_thing_lacks_is_said() -> None:
    callers = Catalog[Any]("caller", "prolocutor.things", needs=("call",))

    with pytest.raises(ConfigError, match="the caller 'fraction' has no 'call'"):
        callers.load("fraction")


def test_what_is_broken_or_lacks_a_library_is_not_installed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert {name for name, _ in THINGS.import_all()} == {"fraction", "method"}
    assert [record.getMessage().split("'")[1] for record in caplog.records] == ["faulty", "moved"]


def test_a_place_is_told_without_an_import() -> None:
    assert THINGS.place("absent") == "no_such_library:Thing"


def test_arguments_that_do_not_fit_are_refused_before_anything_is_made() -> None:
    with pytest.raises(ConfigError, match=r"the thing 'fraction' cannot be made: .*'colour'"):
        THINGS.make("fraction", colour="red")


def test_a_catalog_has_its_own_error() -> None:
    questions = Catalog[Any]("question", "prolocutor.questions", error=BadInput)

    with pytest.raises(BadInput, match="there is no question 'x'"):
        questions.load("x")
