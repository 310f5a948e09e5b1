"""The kinds of asks by name, and the readers of their answers, each imported when it is needed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from prolocutor.asks.answers import AnswerContext, AnswerReader, AskKind, NotUnderstood, Outcome
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import Ask

log = logging.getLogger(__name__)

AskTrait: TypeAlias = Literal[
    "is_raw", "before_controls", "is_name", "is_found_among", "is_telling"
]

_NO_HINT: Final = "I did not understand that."


class AskKinds:
    """All kinds of asks; `options` are the settings of some kinds, by name."""

    def __init__(self, options: Mapping[str, AskKind] | None = None) -> None:
        self._options = dict(options or {})
        self._readers: dict[Ask, AnswerReader] = {}

    def read(self, kind: Ask, text: str, context: AnswerContext) -> Outcome:
        """Read a text as an answer to an ask of this kind."""
        return self._outcome(kind, lambda: self._reader(kind).read(text, context))

    def take_value(
        self, kind: Ask, type_name: str | None, value: Any, context: AnswerContext
    ) -> Outcome:
        """Take a parsed value as an answer to an ask of this kind.

        `type_name` is the fitting kind of ask (`Intent.kind`): "number" for a number.
        Texts (`raw_string`) are read if the ask is for text.
        """
        return self._outcome(kind, lambda: self._reader(kind).take(type_name or "", value, context))

    def hint(self, kind: Ask) -> str:
        """Return the description of the expected answer to an ask of this kind."""
        return getattr(self._kind(kind), "hint", _NO_HINT)

    def _outcome(self, kind: Ask, ask: Callable[[], object]) -> Outcome:
        """Return a reader's outcome; a failing reader of a plug-in has not understood."""
        try:
            outcome = ask()
            if isinstance(outcome, Outcome):
                return outcome
            log.error(
                "the reader of the ask %r returned %.80r, which is not an outcome", kind, outcome
            )
        except Exception:
            log.exception("the reader of the ask %r failed on an answer", kind)
        return NotUnderstood(self.hint(kind))

    def _reader(self, kind: Ask) -> AnswerReader:
        if kind not in self._readers:
            self._readers[kind] = self._kind(kind).build(None)
        return self._readers[kind]

    def _kind(self, kind: Ask) -> AskKind:
        if kind not in self._options:
            self._options[kind] = ASK_KINDS.load(kind)()
        return self._options[kind]


USUAL: Final = AskKinds()
"""All kinds without options."""

read, take_value, hint_for = USUAL.read, USUAL.take_value, USUAL.hint


def has_trait(kind: Ask, trait: AskTrait) -> bool:
    """Return whether answers to asks of this kind are special in a way (`AskOptions`)."""
    return getattr(ASK_KINDS.load(kind), trait, False)


def telling_kinds() -> list[Ask]:
    """Return the kinds whose answers are recognised although another kind was asked for."""
    return [name for name, kind in ASK_KINDS.import_all() if getattr(kind, "is_telling", False)]


def value_schema(kind: Ask) -> JsonObject:
    """Return the JSON Schema of an answer to an ask of this kind, as it is written."""
    schema = getattr(ASK_KINDS.load(kind), "schema", None)
    return dict(schema) if isinstance(schema, Mapping) else {"type": "string"}
