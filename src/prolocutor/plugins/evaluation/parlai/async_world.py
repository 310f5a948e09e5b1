"""AsyncWorld: many episodes at once, each with a partner of its own, in one event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.worlds import Act, checked_act

Said = Mapping[str, Any]


class AsyncPartner(Protocol):
    """An object that observes and acts; while its coroutine `act` waits, others go on."""

    def observe(self, observation: Any) -> Any:
        """Take note of a message."""

    def act(self) -> Any:
        """Return an act, or an awaitable of it."""


class EpisodeResult(msgspec.Struct, frozen=True):
    """One finished episode: its number in the data, its messages, and the partner's acts.

    `error` is the exception of the partner; then there are fewer acts than messages.
    """

    number: int
    messages: Sequence[Said]
    acts: Sequence[Act]
    error: Exception | None = None


class AsyncWorld:
    """Runs episodes with partners, at most `in_flight` at a time.

    `episodes` is read lazily: the next one when a partner is free. `make_partner` makes the partner
    of one episode. The last message of an episode is observed with `episode_done`, if the data does
    not say so itself. A partner that raises ends its own episode alone.
    """

    def __init__(
        self,
        episodes: Iterable[Sequence[Said]],
        make_partner: Callable[[], AsyncPartner],
        *,
        in_flight: int = 8,
    ) -> None:
        if in_flight < 1:
            raise ValueError("at least one episode has to be in flight")
        self._episodes = episodes
        self._make = make_partner
        self._most = in_flight

    async def run(self) -> AsyncIterator[EpisodeResult]:
        """Yield the episodes as they end, in any order; leaving early cancels the rest."""
        waiting = iter(enumerate(self._episodes))
        tasks = BackgroundTasks("episode")
        running: set[asyncio.Task[EpisodeResult]] = set()

        def fill() -> None:
            while len(running) < self._most and (following := next(waiting, None)) is not None:
                running.add(tasks.start(self._tell(*following), awaited=True))

        try:
            fill()
            while running:
                ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                running -= ended
                fill()
                for task in ended:
                    yield task.result()
        finally:
            await tasks.aclose()

    async def _tell(self, number: int, messages: Sequence[Said]) -> EpisodeResult:
        acts: list[Act] = []
        try:
            partner = self._make()
            for message in messages:
                said = Message(message)
                said.setdefault("episode_done", message is messages[-1])
                partner.observe(said)
                act = partner.act()
                acts.append(checked_act(await act if inspect.isawaitable(act) else act, partner))
        except Exception as error:
            return EpisodeResult(number, messages, acts, error)
        return EpisodeResult(number, messages, acts)
