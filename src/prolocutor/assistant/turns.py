"""Turns: the turns of an assistant, and other work for its persons, each in the person's queue.

Inputs are checked before; faults raise `BadInput`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from prolocutor.assistant.call_recording import CallRecorder
from prolocutor.assistant.person_queues import PersonQueues, Work
from prolocutor.assistant.sharing import Place, Sharing
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.contracts.http import spend
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import StopSignal, TurnInput
from prolocutor.dialog.turn_events import TurnListener
from prolocutor.errors import BadInput, BadReply, NotFound
from prolocutor.names import did_you_mean

MAX_NAME: Final = 500

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

T = TypeVar("T")


def checked_input(input: TurnInput, max_text: int, skills: Sequence[str]) -> TurnInput:
    """Return the checked input; a parsed input without a title gets its typed form as text."""
    check_words(input.text, max_text)
    check_name(input.user, "a user", "user_id")
    if input.dialog != "main":
        input = replace(input, dialog=checked_dialog(input.dialog))
    attributes: Any = input.attributes  # a caller may have given anything
    parsed: Any = input.parsed
    program: Any = input.program
    if not isinstance(attributes, dict):
        raise BadInput("attributes are an object", field="attributes")
    if attributes:
        _check_plain(attributes, "attributes")
    if input.request_id is not None:
        check_name(input.request_id, "a request id", "request_id")
    if input.skill is not None:
        _check_skill(input.skill, skills)
    if parsed is None and program is None:
        return input
    if parsed is not None and not isinstance(parsed, dict):
        raise BadInput("a parsed command is an object", field="json")
    if program is not None and (not isinstance(program, str) or len(program) > max_text):
        raise BadInput(f"a program is a text of at most {max_text:,} characters", field="code")
    _check_plain([parsed, program], "json")
    if input.text:
        return input
    return replace(input, text=_typed_form(parsed) if program is None else f"\\t {program}")


def check_words(text: object, max_text: int) -> None:
    """Raise `BadInput` unless a value is a text of at most so many characters."""
    if not isinstance(text, str) or len(text) > max_text:
        raise BadInput(f"an input is a text of at most {max_text:,} characters", field="text")
    if not text.isascii():
        _check_text(text, "text")


def checked_dialog(dialog: str | None) -> str:
    """Return the name of a dialog, by default "main"."""
    if not dialog:
        return "main"
    check_name(dialog, "a dialog's name", "dialog")
    return dialog


def check_name(name: object, what: str, field: str) -> None:
    """Raise `BadInput` unless a value is a text of 1 to 500 characters; `what` describes it."""
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise BadInput(f"{what} is a text of 1 to {MAX_NAME} characters", field=field)
    if not name.isascii():
        _check_text(name, field)


def _check_skill(name: object, known: Sequence[str]) -> None:
    """Raise `NotFound` unless a value is the name of a known skill."""
    if isinstance(name, str) and name in known:
        return
    close = did_you_mean(str(name), known)
    what = f"there is no skill {name!r:.80}" + (f"; {close}" if close else "")
    raise NotFound(f"{what}. The skills are: {', '.join(known)}", field="skill")


def _typed_form(parsed: dict[str, Any] | None) -> str:
    return "\\r " + plain.encode(parsed).decode()


def _check_text(text: str, field: str) -> None:
    """Raise `BadInput` for a lone surrogate; a search is cheaper than encoding the text."""
    if _SURROGATE.search(text):
        _check_plain(text, field)


def _check_plain(value: Any, field: str) -> None:
    try:
        plain.check(value)
    except BadReply as error:
        raise BadInput(str(error), field=field) from None


class TurnInLine(Protocol):
    """Makes a turn; `place` is its place among the work for its person at all replicas."""

    async def __call__(self, *, place: Place | None = None) -> TurnResult:
        """Return the turn's result."""


class Turns:
    """Makes turns, one at a time for each person, and stops them.

    `check_open` raises where no turns are taken; `skills` are the skills that an input may name;
    `recorder` follows all turns.
    """

    def __init__(
        self,
        runner: TurnRunner,
        queues: PersonQueues,
        sharing: Sharing | None,
        *,
        check_open: Callable[[], None],
        skills: Sequence[str],
        max_text: int,
        recorder: CallRecorder | None = None,
    ) -> None:
        self._runner = runner
        self._queues = queues
        self._sharing = sharing
        self._check_open = check_open
        self._skills = skills
        self._max_text = max_text
        self._recorder = recorder
        self._stops: dict[tuple[str, str], list[StopSignal]] = {}
        """The signals of all turns that wait or run, in their order, by user and dialog."""

    @property
    def busy(self) -> int:
        """The number of persons with running or waiting turns."""
        return len(self._queues) + (0 if self._sharing is None else self._sharing.running)

    def begin(
        self, input: TurnInput, listener: TurnListener | None = None, *, counts: bool = True
    ) -> asyncio.Future[TurnResult]:
        """Make a turn of an input; `counts` says whether the quota of its person has it."""
        input = checked_input(input, self._max_text, self._skills)
        if counts:
            spend("turns", input.user)
        stop = StopSignal()
        stops = self._stops.setdefault((input.user, input.dialog), [])
        stops.append(stop)
        try:
            turn = self.enter(input.user, partial(self._runner.run, input, listener, stop))
        except BaseException:
            self._forget_signal(input, stop)
            raise
        if self._recorder is not None:
            self._recorder.follow(input, turn)
        if turn.done():  # nothing had to be waited for
            self._forget_signal(input, stop)
        else:
            turn.add_done_callback(lambda _: self._forget_signal(input, stop))
        return turn

    def enter(self, user: str, run: TurnInLine) -> asyncio.Future[TurnResult]:
        """Make a turn when all that this person asked before is done, here and at replicas."""
        self._check_open()
        if self._sharing is None:
            return self._queues.enter(user, run)
        return self._sharing.line.enter(self._queues, user, lambda place: run(place=place))

    def alone(self, user: str, work: Work[T]) -> asyncio.Future[T]:
        """Do work beside turns, when no turn of the person runs here or at another replica."""
        self._check_open()
        check_name(user, "a user", "user_id")
        if self._sharing is None:
            return self._queues.enter(user, work)
        line = self._sharing.line
        return line.enter(self._queues, user, lambda place: line.while_held(user, work, place))

    def stop(self, user: str, dialog: str | None = None) -> bool:
        """Stop the first turn of a dialog that was not stopped; return whether there is one."""
        for signal in self._stops.get((user, checked_dialog(dialog)), ()):
            if not signal.is_set:
                signal.set()
                return True
        return False

    def is_answering(self, user: str, dialog: str | None = None) -> bool:
        """Return whether a turn of a dialog waits or runs in this process."""
        return (user, checked_dialog(dialog)) in self._stops

    def is_running(self, turn_id: str) -> bool:
        """Return whether this turn runs now, in this process."""
        return self._runner.is_running(turn_id)

    def _forget_signal(self, input: TurnInput, stop: StopSignal) -> None:
        """Forget the signal of a turn that has ended, or was refused."""
        key = input.user, input.dialog
        self._stops[key].remove(stop)
        if not self._stops[key]:
            del self._stops[key]
