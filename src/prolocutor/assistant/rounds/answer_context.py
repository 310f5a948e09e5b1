"""The context of an answer: from the person's attributes and their client's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from prolocutor.asks import location
from prolocutor.asks.answers import AnswerContext, Contact, Understood
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.pipeline.requests import StateRequest
from prolocutor.reading.languages import language_of


def read_answer_context(opened: OpenedTurn, input: TurnInput, waiting: PendingAsk) -> AnswerContext:
    """Return the context in which an answer to an ask is read.

    It is made of the person's attributes `timezone`, `region`, `language`, `location` and
    `contacts` (a list of `{name, value}`), and of the contacts, location and time zone in the
    client's `platformData`.
    `now` is when the person spoke, in the server's time zone if theirs is not known.
    """
    attributes = plain.decode(opened.human.state).get("attributes") or {}
    came = input.attributes.get("platformData")
    here = client_place(came) or attributes.get("location")
    question = " ".join(str(one.get("text", "")) for one in waiting.prompt)
    return AnswerContext(
        choices=waiting.choices,
        timezone=input.timezone or _text(attributes, "timezone"),
        now=datetime.fromtimestamp(opened.opening.started, UTC).astimezone(),
        region=_text(attributes, "region"),
        language=spoken_language(attributes, input.text) or spoken_language({}, question),
        contacts=read_contacts(attributes, came),
        here=here if isinstance(here, dict) else None,
        places=read_places(attributes),
    )


def read_contacts(attributes: JsonObject, sent: Any) -> list[Contact]:
    """Return the contacts of a person: from their attributes, and from `platformData`."""
    came = sent.get("contacts") if isinstance(sent, dict) else None
    return [*_contacts(attributes.get("contacts")), *_contacts(came)]


def read_places(attributes: JsonObject) -> dict[str, JsonObject]:
    """Return the person's own places by name, from their attributes."""
    places = attributes.get("locations")
    if not isinstance(places, dict):
        return {}
    return {name: place for name, place in places.items() if isinstance(place, dict)}


def client_place(sent: Any) -> dict[str, Any] | None:
    """Return the place where a client is, from its `platformData`; None if it does not say."""
    place = sent.get("location") if isinstance(sent, dict) else None
    taken = location.take("location", place, AnswerContext(now=datetime.now(UTC)))
    return taken.value if isinstance(taken, Understood) else None


def spoken_language(attributes: JsonObject, text: str) -> str | None:
    """Return the code of a person's language: of their attribute, or else of their texts."""
    if (own := _text(attributes, "language")) is not None:
        return own
    language = language_of(text)
    return language.code if language else None


def language_of_request(state: StateRequest) -> str | None:
    """Return the code of the language of the person who speaks in a request.

    Where the text is too short to tell, the person's earlier texts count.
    """
    shared = state.shared_state()
    texts = [one["text"] for one in shared["human_utterances"]]
    attributes = shared["human"].get("attributes") or {}
    return spoken_language(attributes, texts[-1]) or spoken_language({}, " ".join(texts))


def _contacts(given: Any) -> Iterator[Contact]:
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, dict):
            continue
        value = _text(one, "value")
        names = [_text(one, key) for key in ("name", "display", "principal")]
        for name in dict.fromkeys(name for name in names if name):
            if value:
                yield Contact(name, value.removeprefix("phone:").removeprefix("email:"))


def _text(given: dict[str, Any], key: str) -> str | None:
    value = given.get(key)
    return value if isinstance(value, str) else None
