"""LiveFeed: passes the events of turns on to a bounded number of watching operators.

An operator gets at most ten turns a second, with all of their events; further turns are counted and
left out.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import WebSocket
from prolocutor.contracts.observer import Outcome, TurnBegun, TurnRecord
from prolocutor.dialog import plain
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.plugins.console.agent_states import AgentStates
from prolocutor.plugins.console.live_rows import (
    AskedNow,
    Begun,
    BreakerChange,
    Ended,
    LeftOut,
    LiveMessage,
    PersonWanted,
    SettledNow,
    TurnChoice,
    make_row,
)

MAX_TURNS_PER_SECOND: Final = 10
"""Turns that one operator is sent in any second."""

MAX_RUNNING: Final = 1_000
"""Turns that are followed at once."""

MAX_KNOWN: Final = 10_000
"""Turns that are remembered as sent or left out until they end."""


class LiveViewer:
    """An operator who watches the turns of a choice."""

    def __init__(self, socket: WebSocket, choice: TurnChoice, clock: Callable[[], float]) -> None:
        self._choice = choice
        self._socket = socket
        self._clock = clock
        self._known: dict[str, bool] = {}
        self._sent: deque[float] = deque(maxlen=MAX_TURNS_PER_SECOND)
        self._left_out = 0
        self._telling: asyncio.TimerHandle | None = None

    def begins(self, turn_id: str) -> bool:
        """Return whether a turn is shown from its beginning on."""
        if not self._choice.takes_all:
            return False
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[turn_id] = shown = self._admits()
        return shown

    def ends(self, row: Ended) -> bool:
        """Return whether an ended turn is shown."""
        known = self._known.pop(row.turn_id, None)
        return self._choice.fits(row) and (self._admits() if known is None else known)

    def send(self, message: str) -> None:
        """Send a message."""
        self._socket.send(message)

    def close(self) -> None:
        """Stop the message about omitted turns."""
        if self._telling is not None:
            self._telling.cancel()

    def _admits(self) -> bool:
        now = self._clock()
        if len(self._sent) < MAX_TURNS_PER_SECOND or now - self._sent[0] >= 1.0:
            self._sent.append(now)
            return True
        self._left_out += 1
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(1.0, self._tell)
        return False

    def _tell(self) -> None:
        """Send the number of omitted turns."""
        self._telling = None
        number, self._left_out = self._left_out, 0
        self.send(_encode(LeftOut(n=number)))


class RunningTurn(msgspec.Struct):
    """A watched turn: its viewers, and the services that are being asked now."""

    begun: Begun
    viewers: list[LiveViewer]
    asked: list[AskedNow] = []


class LiveFeed:
    """Follows the turns of one assistant while there are viewers; implements `Following`.

    Turns of more than `slow` seconds are slow.
    """

    def __init__(
        self,
        assistant: Assistant,
        states: AgentStates,
        slow: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._assistant = assistant
        self._states = states
        self._slow = slow
        self._viewers: list[LiveViewer] = []
        self._turns: dict[str, RunningTurn] = {}
        self._asking: list[AskedNow] = []
        self._following = ExitStack()
        assistant.switches.listeners.append(self.show_switch)

    @contextmanager
    def viewing(self, socket: WebSocket, choice: TurnChoice) -> Iterator[None]:
        """Let an operator watch while the block runs, beginning with the running turns."""
        viewer = LiveViewer(socket, choice, self._clock)
        for turn_id, turn in self._turns.items():
            if viewer.begins(turn_id):
                turn.viewers.append(viewer)
                for message in (turn.begun, *turn.asked):
                    viewer.send(_encode(message))
        if not self._viewers:
            self._following.enter_context(self._assistant.observers.following(self))
        self._viewers.append(viewer)
        try:
            yield
        finally:
            viewer.close()
            self._viewers.remove(viewer)
            if not self._viewers:
                self._following.close()
                self._turns.clear()
                self._asking.clear()

    def turn_begun(self, begun: TurnBegun) -> None:
        """Show a new turn to the operators within their limit of turns."""
        viewers = [one for one in self._viewers if one.begins(begun.turn_id)]
        if not viewers:
            return
        message = Begun(
            turn_id=begun.turn_id,
            dialog_id=begun.dialog_id,
            user=begun.user,
            channel=begun.channel,
            said=begun.text[:200],
            at=begun.at,
        )
        while len(self._turns) >= MAX_RUNNING:  # one that another replica stored never ends here
            del self._turns[next(iter(self._turns))]
        self._turns[begun.turn_id] = RunningTurn(message, viewers)
        _send(viewers, message)

    def service_asked(self, turn_id: str, service: str, stage: str) -> None:
        """Show the asked services, in one message if they are asked at once."""
        if turn_id not in self._turns:
            return
        last = self._asking[-1] if self._asking else None
        if last is not None and (last.turn_id, last.stage) == (turn_id, stage):
            last.agents.append(service)
            return
        if last is None:
            asyncio.get_running_loop().call_soon(self._flush)
        self._asking.append(
            AskedNow(turn_id=turn_id, agents=[service], stage=stage, at=time.time())
        )

    def service_settled(
        self, turn_id: str, service: str, stage: str, outcome: Outcome, seconds: float
    ) -> None:
        """Show the outcome of a service."""
        turn = self._turns.get(turn_id)
        if turn is None:
            return
        self._flush()
        settled = SettledNow(
            turn_id=turn_id, agent=service, stage=stage, outcome=outcome, seconds=seconds
        )
        _send(turn.viewers, settled)
        for asked in turn.asked:
            if asked.stage == stage and service in asked.agents:
                asked.agents.remove(service)
        turn.asked = [one for one in turn.asked if one.agents]

    def turn_ended(self, record: TurnRecord) -> None:
        """Show an ended turn."""
        self._flush()
        self._turns.pop(record.turn_id, None)
        row = make_row(record, record.flags(self._slow))
        _send([one for one in self._viewers if one.ends(row)], row)

    def breaker_changed(self, service: str, state: str) -> None:
        """Show the new state of a service: it is left alone, tries again, or is well."""
        for step in self._assistant.engine.prepared.every():
            if step.name == service and step.guard.breaker.state == state:
                self.show_switch(step)

    def show_switch(self, step: ServiceStep) -> None:
        """Show the changed state of a service."""
        if self._viewers:
            now = BreakerChange(
                agent=step.name, stage=step.stage_name, state=self._states.find_state(step)
            )
            _send(self._viewers, now)

    def dialog_waits(self, dialog_id: str) -> None:
        """Show that a person is wanted."""
        _send(self._viewers, PersonWanted(dialog_id=dialog_id))

    def _flush(self) -> None:
        waiting, self._asking = self._asking, []
        for message in waiting:
            if (turn := self._turns.get(message.turn_id)) is not None:
                _send(turn.viewers, message)
                turn.asked.append(message)


def _send(viewers: list[LiveViewer], message: LiveMessage) -> None:
    if viewers:
        encoded = _encode(message)
        for viewer in viewers:
            viewer.send(encoded)


def _encode(message: LiveMessage) -> str:
    return plain.encode(message).decode()
