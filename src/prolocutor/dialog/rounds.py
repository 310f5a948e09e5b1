"""Round: the state of a dialog between two turns, such as an open ask; kept in the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject

FOLLOW_UP: Final = "follow_up"
"""The name of the annotation."""

MAX_QUESTION_CHARACTERS: Final = 2_000
"""Characters of the longest question that counts."""

Ask = str
"""The kind of the expected value: a name of the entry-point group `prolocutor.asks`."""

encode = msgspec.json.Encoder().encode


class FollowUp(msgspec.Struct, frozen=True):
    """The content of the annotation `follow_up`.

    `text` is the whole question, `of` the earlier turn's question behind it, `confidence` (0 to 1)
    the certainty of this reading, `language` the language of the question (ISO 639-1) where the
    words have another language, `skill` the skill of the earlier answer, preferred now. `corrects`:
    the last turn's action was not meant, and is to be taken back.
    """

    text: str
    of: str = ""
    confidence: float = 0.0
    language: str = ""
    skill: str = ""
    corrects: bool = False


def read_follow_up(annotations: Mapping[str, Any]) -> FollowUp | None:
    """Read the annotation `follow_up`; None if it is missing or of no use.

    An annotation without text, with too long a text, or of another shape is of no use.
    """
    given = annotations.get(FOLLOW_UP)
    if not given:
        return None
    try:
        found = msgspec.convert(given, FollowUp)
    except msgspec.ValidationError:
        return None
    return found if found.text.strip() and len(found.text) <= MAX_QUESTION_CHARACTERS else None


class Forward(msgspec.Struct, frozen=True):
    """The effect of a choice: this skill gets this text, as if the person had said it."""

    skill: str
    text: str


class OfferedChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """One choice of several: its title, a longer description, its effect."""

    title: str
    text: str = ""
    forward: Forward | None = None


class NarrowedAsk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The purpose of an answer to complete a first, insufficient answer.

    `ask` is the kind of the first ask. `values` are the choices' values; without choices the answer
    is the person's own place of this name, to be remembered.
    """

    ask: Ask
    values: list[Any] = []
    place: str = ""


class PendingAsk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open ask: its kind, the asking skill, and the choices.

    - `prompt` are the messages of the ask, to be said again.
    - `page` is the last shown page of a long list.
    - `repeated`: the skill failed to take an answer once, and the ask was repeated.
    - `context` belongs to the asker (a program in need of a value); the waiting skill sees it as
      `request["answer"]["context"]`.
    - `code` and `entities` are the context for clients.
    - `narrowed` is set where this ask is about the answer to an earlier ask.
    - `digressions`: so many turns in a row were about something else.
    - `hint` is the skill's advice on how to answer.
    """

    ask: Ask
    skill: str
    prompt: list[JsonObject] = []
    choices: list[OfferedChoice] = []
    page: int = 0
    repeated: bool = False
    context: Any = None
    code: list[str] = []
    entities: JsonObject = {}
    narrowed: NarrowedAsk | None = None
    digressions: int = 0
    hint: str = ""


class Handover(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who has a dialog in place of the assistant: the operator `by`, since then (UNIX seconds).

    Without an operator a person is wanted, for a `reason`, and none has taken over.
    """

    by: str = ""
    since: float = 0.0
    reason: str = ""


class Round(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a dialog between two turns.

    - `waiting` is the open ask.
    - `preferred` is the skill of the last answer, able to go on, `left` the number of turns for
      which it is preferred.
    - `handover` is there while a person is wanted or has taken over.
    - `ended` is the ask that ended between two turns, until services have seen its end.
    - `more` is the source of a program for further results, until the next input.
    """

    waiting: PendingAsk | None = None
    preferred: str | None = None
    left: int = 0
    handover: Handover | None = None
    ended: Handover | None = None
    more: str | None = None


NOTHING = Round()
decode = msgspec.json.Decoder(Round).decode
