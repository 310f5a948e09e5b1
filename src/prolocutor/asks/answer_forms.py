"""Forms for answers: the JSON Schema of an open ask, and values of that schema as inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from prolocutor.asks.kinds import value_schema
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.dialog.rendering import plain_text
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.reading.plain_text import plain

_ENTITIES: Final = {"location": "LOCATION", "time": "TIME", "date": "DATE"}
GIVEN_UP: Final = "All right, never mind."
"""The reply to a person who gives up a question."""

_NEVER_MIND: Final = ("never mind", "nevermind")


class GivenAnswer(msgspec.Struct, frozen=True):
    """An answer as `Assistant.turn` takes it: a text, and its parsed form if any."""

    text: str
    parsed: JsonObject | None = None


CANCEL: Final = GivenAnswer(
    "never mind", {"code": ["bookkeeping", "special", "special:nevermind"], "entities": {}}
)


def answer_schema(waiting: PendingAsk) -> JsonObject:
    """Return the JSON Schema of an answer to an open ask.

    Yes or no is "yes" or "no", a choice its title.
    """
    schema = value_schema(waiting.ask)
    if waiting.ask == "choice" and waiting.choices:
        schema["enum"] = list(dict.fromkeys(choice.title for choice in waiting.choices))
    return schema


def question(waiting: PendingAsk) -> str:
    """Return the words of the ask."""
    return plain_text(waiting.prompt) or "What do you answer?"


def answer_to_ask(waiting: PendingAsk, value: Any) -> GivenAnswer:
    """Return the input for an answer, of whatever type it is; None and objects are written out."""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if waiting.ask == "yesno" and value in ("yes", "no"):
        return GivenAnswer(value, _code("special", f"special:{value}"))
    if waiting.ask == "choice" and isinstance(value, str):
        titles = [choice.title for choice in waiting.choices]
        if value in titles:
            return GivenAnswer(value, _code("choice", str(titles.index(value))))
    return GivenAnswer(answer_text(value))


def gives_up(answer: Mapping[str, Any]) -> bool:
    """Return whether a skill's `answer` ends an agent's question without a kind.

    Every text answers such a question, so "cancel" or "no" go to the agent; "never mind" does not.
    """
    if answer.get("kind") != "raw_string":
        return answer.get("kind") == "cancelled"
    value = answer.get("value")
    return isinstance(value, str) and plain(value).strip(" .!") in _NEVER_MIND


def answer_by_type(value: Any, kind: str = "location") -> GivenAnswer:
    """Return the input for an answer by its own type, whatever was asked for.

    True and False are yes and no. An object with an `idx` is a choice; another is an entity of this
    kind: a location, a time or a date. A list gives an empty text.
    """
    if isinstance(value, bool):
        word = "yes" if value else "no"
        return GivenAnswer(word, _code("special", f"special:{word}"))
    if isinstance(value, dict):
        if (idx := whole_number(value.get("idx"))) is not None:
            return GivenAnswer(str(value.get("title", "")), _code("choice", str(idx)))
        name = f"{_ENTITIES.get(kind, 'LOCATION')}_0"
        return GivenAnswer(
            _display_text(value), {**_code("answer", name), "entities": {name: value}}
        )
    return GivenAnswer("" if isinstance(value, list) else answer_text(value))


def whole_number(value: Any) -> int | None:
    """Return a number without a fraction, which some clients write as `1.0`; None for all else."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _code(*words: str) -> JsonObject:
    return {"code": ["bookkeeping", *words], "entities": {}}


def _display_text(entity: JsonObject) -> str:
    """Return an entity as a person would type it, as far as it is known."""
    display = entity.get("display")
    if isinstance(display, str) and display:
        return display
    place = [str(entity[key]) for key in ("latitude", "longitude") if key in entity]
    return ", ".join(place)


def answer_text(value: Any) -> str:
    """Return an answer as a person would type it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else encode(value).decode()
