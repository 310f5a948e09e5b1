"""Rounds: from an input until nothing is asked any more. Reads inputs, and says what follows."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.asks.hints import NOT_UNDERSTOOD
from prolocutor.asks.intents import (
    intent_in,
    read_parsed,
    read_prefixed,
)
from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.rounds.answer_context import answer_context_of
from prolocutor.assistant.rounds.decision import Decision
from prolocutor.assistant.rounds.open_ask import OpenAsk, button_answer, to_skill
from prolocutor.contracts.programs import ProgramStart
from prolocutor.contracts.store import NO_ROUND, OpenedTurn
from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import DirectReply, Input, TurnStart
from prolocutor.dialog.rounds import NOTHING, RAW, PendingAsk, Round
from prolocutor.errors import BadInput
from prolocutor.pipeline.plan import Service

log = logging.getLogger(__name__)

SWITCH_CONFIDENCE: Final = 0.8
"""How sure another skill must be to change the subject while something is asked for."""

HEARD: Final = 0.3
"""How sure a skill must be that "yes", "no", "stop" and "never mind" are said to it, unasked."""

_SAID: Final = {
    "yes": "yes",
    "yeah": "yes",
    "yep": "yes",
    "yes please": "yes",
    "no": "no",
    "nope": "no",
    "no thanks": "no",
    "never mind": "nevermind",
    "nevermind": "nevermind",
    "cancel": "nevermind",
    "forget it": "nevermind",
    "stop": "stop",
    "help": "help",
    "help me": "help",
}
"""What people say to nobody in particular. Far fewer wordings than where something is asked for:
there a skill may have said something that they are an answer to."""

_LONGEST: Final = max(map(len, _SAID)) + 2


class InputInterpreter:
    """Decides what inputs mean, from what the dialog waits for and the input alone.

    So a turn that runs again decides the same.
    """

    def __init__(
        self, skills: Sequence[Service], *, switch_confidence: float = SWITCH_CONFIDENCE
    ) -> None:
        self._skills = {skill.name for skill in skills}
        self._switch_confidence = switch_confidence
        cards = [(skill.name, (skill.card or {}).get("description")) for skill in skills]
        self._menu = own_words.menu([(name, str(told or "")) for name, told in cards])

    def read(self, begun: OpenedTurn, input: Input) -> Decision:
        """Tell what an input means for the turn that it begins."""
        state = round_of(begun)
        if state.waiting is not None and not self._is_there(state.waiting):
            state = NOTHING
        try:
            decision = self._read(begun, input, state)
        except BadInput as error:
            decision = _misread(input, state.waiting, str(error))
        return decision if state is NOTHING else replace(decision, state=state)

    def _read(self, begun: OpenedTurn, input: Input, state: Round) -> Decision:
        waiting = state.waiting
        parsed = self._parsed(input, waiting)
        if waiting is None:
            if parsed is None:
                return self._text(input, state)
            return self._pressed(begun, input, state, parsed)
        ask = OpenAsk(
            waiting,
            input,
            begun,
            lambda: answer_context_of(begun, input, waiting),
            switch_confidence=self._switch_confidence,
        )
        if parsed is None:
            parsed = ask.titled()
        return ask.text() if parsed is None else self._pressed_within(ask, input, parsed)

    # -- while something is asked for -------------------------------------------------------

    def _is_there(self, waiting: PendingAsk) -> bool:
        """Return whether whoever asked is still there to get the answer."""
        return not waiting.skill or waiting.skill in self._skills

    def _pressed_within(self, ask: OpenAsk, input: Input, parsed: dict[str, Any]) -> Decision:
        skill = parsed.get("skill")
        if isinstance(skill, str) and skill in self._skills:
            return ask.button(skill, parsed)
        parsed = read_parsed(parsed)
        intent = intent_in(parsed)
        if intent is None:
            return ask.program(parsed)
        decision = ask.intent(intent, parsed)
        if decision is not None:
            return decision
        start = TurnStart(input=input, say=own_words.says(self._menu))
        return Decision(start=start, told=ask.waiting.skill or None)

    # -- while nothing is -------------------------------------------------------------------

    def _text(self, input: Input, state: Round) -> Decision:
        """Somebody typed: the skills are asked; to a bare yes or no the assistant has an answer."""
        text = input.text
        control = _SAID.get(text.lower().strip(" .!")) if len(text) <= _LONGEST else None
        if control is None:
            return Decision(start=TurnStart(input=input, preferred=state.preferred))
        return self._unasked(control, input, state)

    def _unasked(self, control: str, input: Input, state: Round) -> Decision:
        stops = control == "stop"
        start = TurnStart(
            input=input,
            preferred=None if stops else state.preferred,
            least=None if control == "help" else HEARD,
            otherwise=self._words(control),
        )
        return Decision(start=start, releases=stops)

    def _pressed(
        self, begun: OpenedTurn, input: Input, state: Round, parsed: dict[str, Any]
    ) -> Decision:
        skill = parsed.get("skill")
        if isinstance(skill, str) and skill in self._skills:
            return Decision(start=to_skill(input, skill, button_answer(input, parsed)))
        parsed = read_parsed(parsed)
        intent = intent_in(parsed)
        if intent is None:
            program = ProgramStart(begun=begun, parsed=parsed)
            return Decision(start=TurnStart(input=input), program=program)
        if intent.name in ("yes", "no") and state.preferred is not None:
            return self._unasked(intent.name, input, state)
        start = TurnStart(input=input, say=self._words(intent.name))
        return Decision(start=start, releases=intent.name == "stop")

    def _words(self, name: str) -> DirectReply:
        """Return what the assistant says of itself to what steers rounds, where there is none."""
        if name in ("help", "category", "commands"):
            return own_words.says(self._menu)
        if name in ("stop", "wakeup", "empty"):
            return own_words.SILENCE
        return own_words.says(_UNASKED.get(name, NOT_UNDERSTOOD))

    def _parsed(self, input: Input, waiting: PendingAsk | None) -> dict[str, Any] | None:
        """Return what came parsed, also where it was typed with a prefix, but not as raw text."""
        if input.parsed is not None:
            return input.parsed
        if input.program is not None:
            return {"program": input.program}
        if not input.text.startswith("\\") or (waiting is not None and waiting.ask in RAW):
            return None
        return read_prefixed(input.text)


def _misread(input: Input, waiting: PendingAsk | None, what: str) -> Decision:
    """What came parsed is none: what is wrong with it is said."""
    if waiting is None:
        words = own_words.says(NOT_UNDERSTOOD, what)
    else:
        words = own_words.looks_for(waiting, NOT_UNDERSTOOD, what)
    return Decision(start=TurnStart(input=input, say=words), kept=waiting)


def round_of(begun: OpenedTurn) -> Round:
    """Return what the dialog waited for when a turn began."""
    if begun.round == NO_ROUND:
        return NOTHING
    try:
        return rounds.decode(begun.round)
    except msgspec.DecodeError as error:
        log.error("what dialog %s waits for cannot be read: %s", begun.dialog_id, error)
        return NOTHING


_UNASKED: Final = {
    "yes": own_words.AGREE,
    "no": own_words.NO_WAY,
    "maybe": own_words.MAYBE_WHAT,
    "nevermind": own_words.CANNOT_HELP,
    "debug": "I am waiting for nothing.",
    "train": own_words.NO_TRAINING,
    "makerule": own_words.NO_RULES,
    "more": own_words.NO_MORE,
    "back": own_words.NO_MORE,
    "hello": own_words.HELLO,
    "choice": own_words.NO_CHOICES,
    "answer": own_words.NOTHING_ASKED,
    "filter": own_words.NOTHING_ASKED,
}
