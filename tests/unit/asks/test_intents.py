"""What buttons mean where no plug-in reads further commands."""

from typing import Any

import pytest

from prolocutor.asks import intents
from prolocutor.asks.intents import CommandLanguage, Intent, make_intent, typed_command
from prolocutor.catalog import Catalog


@pytest.fixture(autouse=True)
def no_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Catalog[CommandLanguage]("language of commands", "prolocutor.tests.nothing")
    monkeypatch.setattr(intents, "LANGUAGES", nothing)


@pytest.mark.parametrize(
    ("tokens", "intent"),
    [
        (["special", "special:yes"], Intent("yes")),
        (["special", "special:cancel"], Intent("nevermind")),
        (["choice", "2"], Intent("choice", 2, "choice")),
        (["choice", 2], Intent("choice", 2, "choice")),
        (["answer", "QUOTED_STRING_0"], Intent("answer", "Ann", "raw_string")),
    ],
)
def test_buttons_of_the_assistant_are_read_without_a_plugin(
    tokens: list[Any], intent: Intent
) -> None:
    entities = {"QUOTED_STRING_0": "Ann"}
    assert make_intent({"code": ["bookkeeping", *tokens], "entities": entities}) == intent


@pytest.mark.parametrize("tokens", [["special", "special:x"], ["choice", "NUMBER_0"], ["answer"]])
def test_other_tokens_are_left_to_plugins(tokens: list[str]) -> None:
    assert make_intent({"code": ["bookkeeping", *tokens], "entities": {}}) is None


def test_a_prefix_means_nothing_without_a_plugin() -> None:
    assert typed_command("\\t now => @a.b();") is None
