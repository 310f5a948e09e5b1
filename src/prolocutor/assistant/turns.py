"""Turns: the turns of an assistant, and other work for its persons, each in the person's queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from prolocutor.assistant.call_recording import CallRecorder
from prolocutor.assistant.input_checks import check_name, checked_dialog, checked_input
from prolocutor.assistant.person_queues import PersonQueues, Work
from prolocutor.assistant.sharing import Place, Sharing
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_runner import TurnRunner
from prolocutor.contracts.http import spend
from prolocutor.dialog.inputs import StopSignal, TurnInput
from prolocutor.dialog.turn_events import TurnListener

T = TypeVar("T")


class TurnInLine(Protocol):
    """Makes a turn; `place` is its place among the work for its person at all replicas."""

    async def __call__(self, *, place: Place | None = None) -> TurnResult:
        """Return the turn's result."""


class Turns:
    """Makes turns, one at a time for each person, and stops them.

    `check_open` raises where no turns are taken; `skills` are those that an input may name;
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
        """The number of persons whose turns are running or waiting."""
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
            self._ended(input, stop)
            raise
        if self._recorder is not None:
            self._recorder.follow(input, turn)
        if turn.done():  # nothing had to be waited for
            self._ended(input, stop)
        else:
            turn.add_done_callback(lambda _: self._ended(input, stop))
        return turn

    def enter(self, user: str, run: TurnInLine) -> asyncio.Future[TurnResult]:
        """Make a turn when all that this person asked before is done, here and at replicas."""
        self._check_open()
        if self._sharing is None:
            return self._queues.enter(user, run)
        return self._sharing.line.enter(self._queues, user, lambda place: run(place=place))

    def alone(self, user: str, work: Work[T]) -> asyncio.Future[T]:
        """Do work that is no turn when no turn of the person runs, here or at another replica."""
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
        return turn_id in self._runner.running

    def _ended(self, input: TurnInput, stop: StopSignal) -> None:
        """Forget the signal of a turn that has ended, or was refused."""
        key = input.user, input.dialog
        self._stops[key].remove(stop)
        if not self._stops[key]:
            del self._stops[key]
