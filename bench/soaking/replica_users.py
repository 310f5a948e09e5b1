"""The people of a soak of replicas: they talk to any replica, and read their feeds at any."""

from __future__ import annotations

import asyncio
import time
from random import Random
from typing import Any, Final

import aiohttp
import msgspec

from bench.soaking.replica_ledger import (
    HeardReply,
    PersonLedger,
    ReplicaLedger,
    SpokenWords,
)

HURRY: Final = 1.5
PATIENCE: Final = 12.0
"""Seconds until a hurried or a patient client asks another replica."""
PAUSE: Final = 0.05
HURRIES: Final = 0.5
"""The share of requests whose client is in a hurry."""
AT_ONCE: Final = 0.15
"""The share of words that are sent together with the next ones, to two replicas."""
REPEATS: Final = 0.1
"""The share of words that are sent again, with their key, after they were answered."""
QUIET: Final = 1.5
"""Seconds between the words of a quiet person."""
MOST_FRAMES: Final = 12
"""Messages after which a reader goes to another replica, at most."""


class ReplicaUser:
    """One person who talks, and reads their feed, at replicas chosen at random.

    A quiet one says little, at the first replica, and reads at the second: how late their messages
    come there shows whether hints do.
    """

    def __init__(
        self,
        name: str,
        urls: list[str],
        session: aiohttp.ClientSession,
        ledger: ReplicaLedger,
        random: Random,
        *,
        quiet: bool = False,
    ) -> None:
        self.name = name
        self._quiet = quiet
        self._talk_urls = urls[:1] if quiet else urls
        self._read_urls = urls[1:2] if quiet else urls
        self._session = session
        self._ledger = ledger
        self._own = ledger.people.setdefault(name, PersonLedger())
        self._random = random
        self._answered = 0

    async def talk(self, enough: asyncio.Event) -> None:
        """Say one thing after the other, sometimes two at once, until it is enough."""
        while not enough.is_set():
            if self._quiet:
                await asyncio.sleep(self._random.uniform(0.5, 1.5) * QUIET)
            words = [self._next()]
            if not self._quiet and self._random.random() < AT_ONCE:
                words.append(self._next())
            await asyncio.gather(*(self._ask(word) for word in words))
            self._answered = words[-1].number
            if self._random.random() < REPEATS:
                self._ledger.counts["repeated"] += 1
                await self._ask(self._random.choice(self._own.said[-20:]))

    async def read(self, enough: asyncio.Event, *, restless: bool) -> None:
        """Read the feed from its beginning; a restless reader changes replicas all the time."""
        last = -1
        while not enough.is_set():
            frames = self._random.randint(1, MOST_FRAMES) if restless else 1_000_000
            try:
                last = await self._read_some(last, frames)
            except (aiohttp.ClientError, OSError, EOFError):
                self._ledger.counts["reconnected"] += 1
                await asyncio.sleep(PAUSE)

    def _next(self) -> SpokenWords:
        number = len(self._own.said) + 1
        words = SpokenWords(number, f"{number}: hello", self._answered)
        self._own.said.append(words)
        return words

    async def _ask(self, words: SpokenWords) -> None:
        """Say something until it is answered."""
        body = {"user_id": f"almond:{self.name}", "payload": words.text}
        headers = {"Idempotency-Key": f"{self.name}-{words.number}"}
        said = 0.0 if words.heard else time.monotonic()
        while True:
            seconds = HURRY if self._random.random() < HURRIES else PATIENCE
            url = f"{self._random.choice(self._talk_urls)}/"
            try:
                async with (
                    asyncio.timeout(seconds),
                    self._session.post(url, json=body, headers=headers) as response,
                ):
                    status, reply = response.status, await response.json()
            except (aiohttp.ClientError, OSError, ValueError):
                self._ledger.counts["asked again"] += 1
                await asyncio.sleep(PAUSE)
                continue
            if status == 200:
                break
            self._ledger.counts[f"status {status}"] += 1
            if status not in (429, 503) or "Retry-After" not in response.headers:
                self._ledger.complain(f"{self.name} {words.number}: got {status} {reply}")
            await asyncio.sleep(PAUSE)
        heard = msgspec.convert(reply, HeardReply)
        self._ledger.last_served = max(self._ledger.last_served, said)
        if (wrong := self._own.take(words, heard)) is not None:
            self._ledger.complain(f"{self.name}: {wrong}")

    async def _read_some(self, last: int, frames: int) -> int:
        """Read messages at one replica; return the id of the last one."""
        url = f"{self._random.choice(self._read_urls)}/me/api/conversation"
        params = {"user": self.name, "id": "main", "after": str(last)}
        opened = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            opening = await self._session.ws_connect(url, params=params, heartbeat=2.0)
        async with opening as socket:
            async for frame in socket:
                if frame.type is not aiohttp.WSMsgType.TEXT:
                    break
                message = frame.json()
                if not isinstance(message.get("id"), int):
                    continue
                live = self._quiet and time.monotonic() - opened > 0.5
                if message["id"] != last + 1:
                    self._ledger.complain(
                        f"{self.name} read the message {message['id']} after {last}"
                    )
                last = message["id"]
                if (wrong := self._own.took(last, text_of(message), live=live)) is not None:
                    self._ledger.complain(f"{self.name}: {wrong}")
                frames -= 1
                if frames == 0:
                    break
        return last


def text_of(message: dict[str, Any]) -> str:
    """Return the words of a message."""
    return str(message["command"] if message["type"] == "command" else message.get("text"))
