"""Input interpretation: the meaning of an input, with or without an open ask."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.asks.answers import NOT_UNDERSTOOD
from prolocutor.asks.controls import find_control
from prolocutor.asks.intents import make_intent, read_parsed, typed_command
from prolocutor.asks.kinds import USUAL, AskKinds, has_trait
from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.rounds.answer_context import read_answer_context
from prolocutor.assistant.rounds.decision import Decision
from prolocutor.assistant.rounds.open_ask import OpenAsk, button_answer, to_skill
from prolocutor.assistant.rounds.program_turns import program_source
from prolocutor.contracts.programs import ProgramRunner, ProgramSource, ProgramStart
from prolocutor.contracts.store import NO_ROUND, OpenedTurn
from prolocutor.dialog import rounds
from prolocutor.dialog.inputs import DirectReply, TurnInput, TurnStart
from prolocutor.dialog.plain import decode
from prolocutor.dialog.rounds import NOTHING, PendingAsk, Round
from prolocutor.errors import BadInput
from prolocutor.plan.pipeline import Skill
from prolocutor.reading.plain_text import plain

log = logging.getLogger(__name__)

UNASKED_CONFIDENCE: Final = 0.3
"""The confidence that a skill needs to reply to a bare "yes", "no", "stop" or "never mind"."""

_CONTROL_PHRASES: Final = {
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
"""Control commands without an open ask. There are far fewer wordings than with one: the text may
well be an answer to what a skill has said."""

_MAX_CHARACTERS: Final = max(map(len, _CONTROL_PHRASES)) + 2

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


class InputInterpreter:
    """Decides the meaning of inputs, from the open ask and the input alone.

    So a turn that runs again after a crash decides the same. `programs` runs the programs that
    inputs ask for, and finds wishes about them.
    """

    def __init__(
        self,
        skills: Sequence[Skill],
        *,
        programs: ProgramRunner,
        switch_confidence: float = DEFAULTS.switch_confidence,
        digressions: str = DEFAULTS.digressions,
        answers_controls: bool = True,
        asks: AskKinds = USUAL,
    ) -> None:
        self._asks = asks
        self.programs = programs
        self._skills = {skill.name for skill in skills}
        self._switch_confidence = switch_confidence
        self._digressions = digressions
        self._answers_controls = answers_controls
        cards = [(skill.name, skill.card_members.get("description")) for skill in skills]
        self._menu = own_words.menu([(name, str(about or "")) for name, about in cards])

    def read(self, opened: OpenedTurn, input: TurnInput) -> Decision:
        """Return the decision on an input."""
        state = NOTHING if opened.round == NO_ROUND else read_round(opened)
        if state is NOTHING and _is_plain(input) and not _offers_buttons(opened):  # as nearly all
            return self._text(opened, input, NOTHING)
        if state.waiting is not None and not self._can_answer(state.waiting):
            state = NOTHING
        if input.retold is not None:
            return Decision(start=TurnStart(input=input, say=own_words.retold(input.retold)))
        try:
            decision = self._read(opened, input, state)
        except BadInput as error:
            decision = _misread(input, state.waiting, str(error))
        return decision if state is NOTHING else replace(decision, state=state)

    def _read(self, opened: OpenedTurn, input: TurnInput, state: Round) -> Decision:
        waiting = state.waiting
        parsed = self._parse_command(input, waiting)
        if parsed is None and waiting is None and _offers_buttons(opened):
            parsed = self._find_titled(opened, input.text)
        if input.skill in self._skills and (waiting is None or waiting.skill != input.skill):
            return self._alone(input, input.skill, waiting, parsed)
        if waiting is None:
            if parsed is None:
                return self._text(opened, input, state)
            return self._press_button(opened, input, state, parsed)
        ask = OpenAsk(
            waiting,
            input,
            opened,
            lambda: read_answer_context(opened, input, waiting),
            kinds=self._asks,
            switch_confidence=self._switch_confidence,
            digressions=self._digressions,
        )
        if parsed is None:
            parsed = ask.find_titled()
        decision = ask.text() if parsed is None else self._press_in_skill(ask, input, parsed)
        if input.skill in self._skills and decision.start.excluded is not None:
            return _asks_again(decision)
        return decision

    def _alone(
        self,
        input: TurnInput,
        skill: str,
        waiting: PendingAsk | None,
        parsed: dict[str, Any] | None,
    ) -> Decision:
        """Ask the only skill that an input is for; the ask of another skill is over."""
        pressed = parsed is not None and parsed.get("skill") == skill
        answer = button_answer(input, parsed) if parsed is not None and pressed else None
        over = waiting.skill or None if waiting is not None else None
        return Decision(start=to_skill(input, skill, answer), cancelled_skill=over)

    # -- with an open ask -------------------------------------------------------------------

    def _can_answer(self, waiting: PendingAsk) -> bool:
        """Return whether the skill that asked still exists; "" is the assistant itself."""
        return not waiting.skill or waiting.skill in self._skills

    def _press_in_skill(self, ask: OpenAsk, input: TurnInput, parsed: dict[str, Any]) -> Decision:
        skill = parsed.get("skill")
        if isinstance(skill, str) and skill in self._skills:
            return ask.button(skill, parsed)
        parsed = read_parsed(parsed)
        intent = make_intent(parsed)
        if intent is None:
            return ask.program(parsed)
        decision = ask.intent(intent, parsed)
        if decision is not None:
            return decision
        start = TurnStart(input=input, say=own_words.says(self._menu))
        return Decision(start=start, cancelled_skill=ask.waiting.skill or None)

    # -- without an open ask ----------------------------------------------------------------

    def _text(self, opened: OpenedTurn, input: TurnInput, state: Round) -> Decision:
        """Read a typed text; a bare "yes" or "no" that no skill claims is answered here."""
        text = input.text
        if state.more is not None:
            going_on = self._about_more(opened, input, state.more, find_control(text))
            if going_on is not None:
                return going_on
        wish = self.programs.find_wish(text)
        if wish is not None:
            program = ProgramStart(opened=opened, wish=wish)
            start = TurnStart(input=input, preferred=state.preferred)
            return Decision(start=start, program=program)
        control = (
            _CONTROL_PHRASES.get(text.lower().strip(" .!"))
            if len(text) <= _MAX_CHARACTERS
            else None
        )
        if not self._answers_controls:
            return Decision(start=TurnStart(input=input))
        if control is None:
            return Decision(start=TurnStart(input=input, preferred=state.preferred))
        return self._decide_unasked(control, input, state)

    def _about_more(
        self, opened: OpenedTurn, input: TurnInput, more: str, control: str | None
    ) -> Decision | None:
        """Go on in the results of a program, or not; None if the input is about something else."""
        if control == "more":
            program = ProgramStart(opened=opened, source=ProgramSource(text=more))
            return Decision(start=TurnStart(input=input), program=program)
        if control in ("no", "stop", "nevermind"):
            return Decision(start=TurnStart(input=input, say=own_words.SILENCE))
        return None

    def _decide_unasked(self, control: str, input: TurnInput, state: Round) -> Decision:
        stops = control == "stop"
        start = TurnStart(
            input=input,
            preferred=None if stops else state.preferred,
            least=None if control == "help" else UNASKED_CONFIDENCE,
            otherwise=self._words(control),
        )
        return Decision(start=start, releases=stops)

    def _press_button(
        self, opened: OpenedTurn, input: TurnInput, state: Round, parsed: dict[str, Any]
    ) -> Decision:
        skill = parsed.get("skill")
        if isinstance(skill, str) and skill in self._skills:
            return Decision(start=to_skill(input, skill, button_answer(input, parsed)))
        parsed = read_parsed(parsed)
        intent = make_intent(parsed)
        if intent is None:
            program = ProgramStart(opened=opened, source=program_source(parsed))
            return Decision(start=TurnStart(input=input), program=program)
        if state.more is not None:
            going_on = self._about_more(opened, input, state.more, intent.name)
            if going_on is not None:
                return going_on
        if intent.name in ("yes", "no") and state.preferred is not None:
            return self._decide_unasked(intent.name, input, state)
        start = TurnStart(input=input, say=self._words(intent.name))
        return Decision(start=start, releases=intent.name == "stop")

    def _find_titled(self, opened: OpenedTurn, text: str) -> dict[str, Any] | None:
        """Return the content of a skill's button in the last reply with the typed title."""
        title = plain(text).strip("[]")
        reply = decode(opened.window[-1].body)
        messages = (reply.get("attributes") or {}).get("messages")
        for one in messages if title and isinstance(messages, list) else ():
            if one.get("type") == "button" and plain(str(one.get("title"))) == title:
                carried = one.get("json")
                if isinstance(carried, dict) and carried.get("skill") in self._skills:
                    return carried
        return None

    def _words(self, name: str) -> DirectReply:
        """Return the reply to a control command without an open ask."""
        if name in ("help", "category", "commands"):
            return own_words.says(self._menu)
        if name in ("stop", "wakeup", "empty"):
            return own_words.SILENCE
        return own_words.says(_UNASKED.get(name, NOT_UNDERSTOOD))

    def _parse_command(self, input: TurnInput, waiting: PendingAsk | None) -> dict[str, Any] | None:
        """Return a parsed or typed command (with its prefix), unless the ask is for raw text."""
        if input.parsed is not None:
            return input.parsed
        if input.program is not None:
            return {"program": input.program}
        if not input.text.startswith("\\") or (
            waiting is not None and has_trait(waiting.ask, "is_raw")
        ):
            return None
        return typed_command(input.text)


def _is_plain(input: TurnInput) -> bool:
    """Return whether an input is a text for no skill alone, without a prefix."""
    only_text = input.parsed is None and input.program is None and input.skill is None
    return only_text and input.retold is None and input.text[:1] != "\\"


def _offers_buttons(opened: OpenedTurn) -> bool:
    """Return whether the last reply may have buttons, by a look at its bytes."""
    window = opened.window
    return bool(window) and window[-1].by_bot and b'"button"' in window[-1].body


def _misread(input: TurnInput, waiting: PendingAsk | None, what: str) -> Decision:
    """Reply with the fault of a parsed command."""
    if waiting is None:
        words = own_words.says(NOT_UNDERSTOOD, what)
    else:
        words = own_words.ask_choice(waiting, NOT_UNDERSTOOD, what)
    return Decision(start=TurnStart(input=input, say=words), pending=waiting)


def _asks_again(decision: Decision) -> Decision:
    """Repeat the ask where another skill would be asked, if this one were not to be alone."""
    start = replace(decision.start, excluded=None, least=None, say=decision.start.otherwise)
    return replace(decision, start=start, cancelled_skill=None)


def read_round(opened: OpenedTurn) -> Round:
    """Return the round of a dialog when a turn began; none if it cannot be read."""
    if opened.round == NO_ROUND:
        return NOTHING
    try:
        return rounds.decode(opened.round)
    except msgspec.DecodeError as error:
        log.error("the round of dialog %s cannot be read: %s", opened.dialog_id, error)
        return NOTHING
