"""Evaluated systems and their dialogs, and an observing and acting agent as a system.

Each dialog in flight has a clone of the agent and a thread of its own, so that a slow agent delays
no other dialog. A clone with an abandoned answer is left to its thread.
"""

from __future__ import annotations

import asyncio
import random
import sys
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, Final, Protocol

import msgspec

from prolocutor.errors import BadReply

Message = Mapping[str, Any]


class SystemReply(msgspec.Struct):
    """The answer to one message: the act, the agent's name, the number of called services."""

    act: dict[str, Any]
    by: str = ""
    calls: int | None = None


def set_seed(seed: int) -> None:
    """Set the seed of Python's generator, and of NumPy's if it is loaded."""
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % 2**32)


class SystemDialog(Protocol):
    """A dialog with an evaluated system."""

    async def answer(self, message: Message) -> SystemReply:
        """Answer one message of the teacher."""


class EvaluatedSystem(Protocol):
    """An evaluated system; several dialogs may be open at once."""

    async def begin(self, seed: int) -> SystemDialog:
        """Open a new dialog."""

    def end(self, respondent: SystemDialog, *, stuck: bool) -> None:
        """Close a dialog; `stuck` if an abandoned answer may still come."""


class ObserveActAgent(Protocol):
    """The methods of an evaluated agent; `reset`, `clone` and `seed` are optional."""

    def observe(self, observation: Any) -> Any:
        """Take note of a message."""

    def act(self) -> Any:
        """Return an act: a dictionary with the field `text`."""


ThreadJob = tuple[
    Callable[[], SystemReply], "asyncio.Future[SystemReply]", asyncio.AbstractEventLoop
]


class EvaluatedAgent:
    """An agent as a system; `make` returns a new agent where the first has no `clone`."""

    def __init__(self, make: Callable[[], ObserveActAgent]) -> None:
        self._make = make
        self._first = make()
        self._free: list[_AgentThread] = [_AgentThread(self._first)]

    def begin_now(self, seed: int) -> AgentDialog:
        """Open a dialog in the caller's thread; for callers with a single dialog at a time."""
        return _dialog(self._first, seed)

    async def begin(self, seed: int) -> SystemDialog:
        """Open a dialog with a free clone."""
        thread = self._free.pop() if self._free else _AgentThread(self._clone())
        return _ThreadedDialog(thread, seed)

    def end(self, dialog: SystemDialog, *, stuck: bool) -> None:
        """Take the clone back, unless it is still busy."""
        if isinstance(dialog, _ThreadedDialog):
            if stuck:
                dialog.thread.leave()
            else:
                self._free.append(dialog.thread)

    def close(self) -> None:
        """End the threads."""
        for thread in self._free:
            thread.leave()

    def _clone(self) -> ObserveActAgent:
        clone = getattr(self._first, "clone", None)
        agent: ObserveActAgent = clone() if callable(clone) else self._make()
        return agent


class AgentDialog:
    """A dialog with an agent."""

    __slots__ = ("_agent",)

    def __init__(self, agent: ObserveActAgent) -> None:
        self._agent = agent

    def answer_now(self, message: Message) -> SystemReply:
        """Show the agent a copy of the message; return its act; `BadReply` for another type."""
        self._agent.observe(message.copy() if isinstance(message, dict) else dict(message))
        act = self._agent.act()
        if not isinstance(act, dict):
            raise BadReply(f"the agent's act is of type {type(act).__name__}, not a dictionary")
        return SystemReply(act, str(act.get("id") or type(self._agent).__name__))


def _dialog(agent: ObserveActAgent, seed: int) -> AgentDialog:
    """Reset an agent and set its seed."""
    if callable(reset := getattr(agent, "reset", None)):
        reset()
    if callable(own := getattr(agent, "seed", None)):
        own(seed)
    else:
        set_seed(seed)
    return AgentDialog(agent)


class _ThreadedDialog:
    """A dialog in the thread of its agent."""

    def __init__(self, thread: _AgentThread, seed: int) -> None:
        self.thread = thread
        self._seed = seed
        self._dialog: AgentDialog | None = None

    async def answer(self, message: Message) -> SystemReply:
        def work() -> SystemReply:
            if self._dialog is None:
                self._dialog = _dialog(self.thread.agent, self._seed)
            return self._dialog.answer_now(message)

        return await self.thread.run(work)


class _AgentThread:
    """An agent with a thread, started when it is first needed."""

    def __init__(self, agent: ObserveActAgent) -> None:
        self.agent: Final = agent
        self._jobs: SimpleQueue[ThreadJob | None] = SimpleQueue()
        self._started = False

    async def run(self, work: Callable[[], SystemReply]) -> SystemReply:
        if not self._started:
            self._started = True
            threading.Thread(target=self._work, name="agent", daemon=True).start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[SystemReply] = loop.create_future()
        self._jobs.put((work, future, loop))
        return await future

    def leave(self) -> None:
        self._jobs.put(None)

    def _work(self) -> None:
        while job := self._jobs.get():
            work, future, loop = job
            answer: SystemReply | None = None
            fault: BaseException | None = None
            try:
                answer = work()
            except BaseException as error:
                fault = error
            try:
                loop.call_soon_threadsafe(_settle, future, answer, fault)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return


def _settle(
    future: asyncio.Future[SystemReply], answer: SystemReply | None, fault: BaseException | None
) -> None:
    if future.done():
        return
    if answer is not None:
        future.set_result(answer)
    else:
        future.set_exception(AgentRaised(fault))


class AgentRaised(Exception):
    """An agent's exception, also `StopIteration` and `SystemExit`, which a future cannot carry."""

    def __init__(self, fault: BaseException | None) -> None:
        self.fault = fault
        super().__init__(str(fault))
