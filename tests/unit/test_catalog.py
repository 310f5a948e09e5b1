"""A catalog finds what has a name: in its table, or installed by another package."""

from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from prolocutor import catalog
from prolocutor.catalog import Catalog, CatalogEntry
from prolocutor.errors import BadInput, ConfigError, MissingExtra

THINGS = Catalog[Callable[..., Any]](
    "thing",
    {
        "fraction": "fractions:Fraction",
        "method": "fractions:Fraction.from_float",
        "absent": CatalogEntry("no_such_library:Thing", "things"),
        "faulty": "fractions:Fractoin",
    },
    group="prolocutor.things",
    key="thing",
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "decimal:Decimal", THINGS.group)
    monkeypatch.setattr(
        catalog, "entry_points", lambda group, name="theirs": [point] if name == "theirs" else []
    )


def test_what_has_a_name_is_made() -> None:
    assert THINGS.make("fraction", 1, 2) == THINGS.load("method")(0.5)


@pytest.mark.usefixtures("installed")
def test_another_package_adds_a_name() -> None:
    assert THINGS.names() == ["fraction", "method", "absent", "faulty", "theirs"]
    assert THINGS.make("theirs", "0.5") == THINGS.make("fraction", "0.5")


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("fractoin", ConfigError, "thing: there is no thing 'fractoin'; did you mean 'fraction'?"),
        ("x", ConfigError, "thing: there is no thing 'x'; there are fraction, method, absent, "),
        (
            "absent",
            MissingExtra,
            "the thing 'absent' needs 'no_such_library': pip install 'prolocutor[things]'",
        ),
        ("faulty", ConfigError, "the thing 'faulty' cannot be loaded"),
    ],
)
def test_what_cannot_be_had_is_said(name: str, error: type[ConfigError], told: str) -> None:
    with pytest.raises(error) as refused:
        THINGS.load(name)
    assert told in str(refused.value)
    assert refused.value.key == "thing"


def test_arguments_that_do_not_fit_are_refused_before_anything_is_made() -> None:
    with pytest.raises(ConfigError, match=r"the thing 'fraction' cannot be made: .*'colour'"):
        THINGS.make("fraction", colour="red")


def test_a_catalog_has_its_own_error() -> None:
    questions = Catalog[Any]("question", {}, group="prolocutor.questions", error=BadInput)

    with pytest.raises(BadInput, match="there is no question 'x'"):
        questions.load("x")
