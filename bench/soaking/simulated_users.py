"""Simulated users of a soak: each sends one input after the other, again until it is answered."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import Any, Final

import aiohttp

from bench.soaking.ledger import Ledger, SentMessage

PATIENCE: Final = 120.0
"""Seconds in which a server that is up has to answer."""
ASK_AGAIN: Final = frozenset({429, 500, 502, 503, 504})

GIVES_UP: Final = 0.1
"""The share of inputs that are not sent again when the connection breaks."""
HANGS_UP: Final = 0.05
"""The share of requests that are dropped early and sent again."""
REPEATS: Final = 0.1
"""The share of inputs after which an answered one is sent again."""
CONTRADICTS: Final = 0.01
"""The share of inputs after which another text is sent with the key of an answered one."""
CLOSES: Final = 0.02
"""The share of inputs after which a new dialog is started."""


class Address:
    """The address of the server while it is up."""

    def __init__(self) -> None:
        self._up = asyncio.Event()
        self._url = ""

    def open(self, url: str) -> None:
        """Note that a server is up."""
        self._url = url
        self._up.set()

    def close(self) -> None:
        """Note that the server is down: new requests wait for the next one."""
        self._up.clear()

    async def url(self) -> str:
        """Wait until a server is up."""
        await self._up.wait()
        return self._url


class SimulatedUser:
    """One user and their dialogs."""

    def __init__(
        self, name: str, seed: int, address: Address, session: aiohttp.ClientSession, ledger: Ledger
    ) -> None:
        self.name = name
        self._random = Random(f"{seed}/{name}")
        self._address = address
        self._session = session
        self._ledger = ledger
        self._number = 0

    async def talk(self, enough: asyncio.Event) -> None:
        """Send one input after the other until `enough` is set and the last one is answered."""
        while not enough.is_set():
            await self._say_next()
            if self._chance(REPEATS):
                await self._repeat(self._earlier())
            if self._chance(CONTRADICTS):
                await self._contradict(self._earlier())
            if self._chance(CLOSES):
                await self._ask("/close", None, patient=True)

    async def repeat(self, some: int) -> None:
        """Send the last input again, and some old ones."""
        answered = [each for each in self._ledger.people[self.name] if each.answer is not None]
        old = self._random.sample(answered, min(some, len(answered)))
        for message in [*answered[-1:], *old]:
            await self._repeat(message)

    async def _say_next(self) -> None:
        self._number += 1
        text = f"{self._number}: hello {self._random.choice(('there', 'again', 'Ünïcode', '🙂'))}"
        message = self._ledger.sent(self.name, self._number, text)
        got = await self._ask(text, message.key, patient=not self._chance(GIVES_UP))
        if got is None:
            message.given_up = True
            self._ledger.counts["given up"] += 1
        else:
            self._take(message, *got)

    async def _repeat(self, message: SentMessage | None) -> None:
        if message is not None:
            self._ledger.counts["repeated"] += 1
            got = await self._ask(message.text, message.key, patient=True)
            if got is not None:
                self._take(message, *got)

    async def _contradict(self, message: SentMessage | None) -> None:
        if message is not None:
            got = await self._ask("0: something else", message.key, patient=True)
            if got is not None and got[0] != 422:
                self._ledger.complain(f"{self.name} {message.number}: other words got {got}")

    def _take(self, message: SentMessage, status: int, body: dict[str, Any]) -> None:
        if status == 200:
            self._ledger.received(self.name, message, body)
        else:
            self._ledger.complain(f"{self.name} {message.number}: got {status} {body}")

    async def _ask(
        self, text: str, key: str | None, *, patient: bool
    ) -> tuple[int, dict[str, Any]] | None:
        """Send a request until there is an answer; None if there is none, or if it is given up."""
        asked = {"user_id": self.name, "payload": text}
        headers = {"Idempotency-Key": key} if key is not None else {}
        hurry = self._random.uniform(0, 0.02) if self._chance(HANGS_UP) else None
        while True:
            url = await self._address.url()
            try:
                async with (
                    asyncio.timeout(PATIENCE if hurry is None else hurry),
                    self._session.post(url, json=asked, headers=headers) as response,
                ):
                    status, body = response.status, await response.json()
            except (aiohttp.ClientError, OSError) as error:
                if isinstance(error, TimeoutError):
                    if hurry is None:
                        self._ledger.complain(f"{self.name}: no answer to {text!r}")
                        return None
                    hurry = None
                    self._counts["hung up"] += 1
                    continue
                self._counts["retries"] += 1
                if not patient:
                    return None
                continue
            if status not in ASK_AGAIN:
                return status, body
            self._counts["retries"] += 1
            self._counts[f"status {status}"] += 1
            if status == 500:
                self._ledger.complain(f"{self.name}: {text!r} got {status} {body}")

    def _earlier(self) -> SentMessage | None:
        recent = self._ledger.people[self.name][-50:]
        answered = [each for each in recent if each.answer is not None]
        return self._random.choice(answered) if answered else None

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    @property
    def _counts(self) -> Counter[str]:
        return self._ledger.counts
