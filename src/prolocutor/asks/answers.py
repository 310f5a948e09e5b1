"""Kinds of asks: the context in which an answer is read, and the outcome."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Protocol, TypeAlias

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import OfferedChoice
from prolocutor.reading.dates import ReadingContext

NOT_ASKED: Final = "Sorry, but that's not what I asked."
NOT_UNDERSTOOD: Final = "Sorry, I did not understand that."
EXTRA: Final = "pip install 'prolocutor[asks]'"


def extra_hint(what: str, instead: str) -> str:
    """Return the sentence on answers readable only with an extra, and on answers without it.

    >>> extra_hint("Numbers in words", "digits")
    "Numbers in words need an extra (pip install 'prolocutor[asks]'); please use digits."
    """
    return f"{what} need an extra ({EXTRA}); please use {instead}."


class Contact(msgspec.Struct, frozen=True):
    """A person whom the user knows: the name, and a phone number (E.164) or an e-mail address."""

    name: str
    value: str


class AnswerContext(ReadingContext, frozen=True, kw_only=True):
    """Facts about the person who answers, and the time.

    - `choices` are the offered choices, `contacts` the person's own.
    - `here` is a location as an answer has it: `{latitude, longitude, display}`.
    - `places` are the person's own by name ("home").
    """

    choices: list[OfferedChoice] = msgspec.field(default_factory=list)
    contacts: list[Contact] = msgspec.field(default_factory=list)
    here: dict[str, Any] | None = None
    places: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)


class Understood(msgspec.Struct, frozen=True):
    """The value of an answer, in the form for the skill."""

    value: Any


class NotUnderstood(msgspec.Struct, frozen=True):
    """The answer is not of the asked kind; `hint` is a sentence to say."""

    hint: str


class Ambiguous(msgspec.Struct, frozen=True):
    """The answer may mean several values: their titles, and the values."""

    question: str
    titles: list[str]
    values: list[Any]


class UnknownPlace(msgspec.Struct, frozen=True):
    """The answer names an unknown place of the person, such as "home"."""

    name: str


Outcome: TypeAlias = Understood | NotUnderstood | Ambiguous | UnknownPlace


class AnswerReader(Protocol):
    """Reads answers to a kind of ask; neither method ever raises."""

    def read(self, text: str, context: AnswerContext, /) -> Outcome:
        """Read a text."""

    def take(self, type_name: str, value: Any, context: AnswerContext, /) -> Outcome:
        """Take a parsed value of a type, such as "number"; "" for a value without a type."""


class AskKind(Protocol):
    """The options of a kind of ask; entry points of `prolocutor.asks` name them.

    They are a frozen `msgspec.Struct` with defaults for all fields. `hint` is the description of
    the expected answer. As class variables there may be `schema`, the JSON Schema of a written
    answer (by default a text's), and what is special about answers, as in `AskOptions`.
    """

    @property
    def hint(self) -> str:
        """The assistant's words about an answer it does not understand."""

    def build(self, context: None) -> AnswerReader:
        """Return the reader of answers."""


class AskOptions(msgspec.Struct, frozen=True):
    """A kind of ask without options, which reads its answers itself.

    - `is_raw`: an answer is whatever text comes, even "cancel".
    - `before_controls`: an answer is read before control commands: a choice can be called "Cancel".
    - `is_name`: nearly any few words are an answer, as they can be a name.
    - `is_found_among`: an answer is found among frequent words and words of the question.
    - `is_telling`: an answer is recognised although another kind was asked for.
    """

    hint: ClassVar[str]
    schema: ClassVar[JsonObject] = {"type": "string"}
    is_raw: ClassVar[bool] = False
    before_controls: ClassVar[bool] = False
    is_name: ClassVar[bool] = False
    is_found_among: ClassVar[bool] = False
    is_telling: ClassVar[bool] = False

    def build(self, context: None) -> Any:
        """Return itself."""
        return self
