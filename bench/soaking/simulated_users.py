"""The people of a soak: each says one thing after the other and asks again until it is answered."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import Any, Final

import aiohttp

from bench.soaking.ledger import Ledger, Message

PATIENCE: Final = 120.0
"""Seconds in which a server that is up has to answer."""
ASK_AGAIN: Final = frozenset({429, 500, 502, 503, 504})

GIVES_UP: Final = 0.1
"""How often a person says the next thing, rather than the same again, when the line breaks."""
HANGS_UP: Final = 0.05
"""How often a person does not wait for a reply, but asks again at once."""
REPEATS: Final = 0.1
"""How often a person asks something again that was answered before."""
CONTRADICTS: Final = 0.01
"""How often a person says something else with the key of something that was answered before."""
CLOSES: Final = 0.02
"""How often a person starts a new dialog."""


class Address:
    """Where the server is now, if it is up."""

    def __init__(self) -> None:
        self._up = asyncio.Event()
        self._url = ""

    def open(self, url: str) -> None:
        """Let everybody know that the server is up."""
        self._url = url
        self._up.set()

    def close(self) -> None:
        """Let everybody wait for the next server; those who talk to this one find out."""
        self._up.clear()

    async def url(self) -> str:
        """Wait until a server is up."""
        await self._up.wait()
        return self._url


class Person:
    """One person and their dialog with the assistant."""

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
        """Say one thing after the other until it is enough, the last one answered."""
        while not enough.is_set():
            await self._say_next()
            if self._chance(REPEATS):
                await self._repeat(self._earlier())
            if self._chance(CONTRADICTS):
                await self._contradict(self._earlier())
            if self._chance(CLOSES):
                await self._ask("/close", None, patient=True)

    async def repeat(self, some: int) -> None:
        """Ask again what was asked last, and some things from long ago."""
        answered = [each for each in self._ledger.people[self.name] if each.answer is not None]
        old = self._random.sample(answered, min(some, len(answered)))
        for message in [*answered[-1:], *old]:
            await self._repeat(message)

    async def _say_next(self) -> None:
        self._number += 1
        text = f"{self._number}: hello {self._random.choice(('there', 'again', 'Ünïcode', '🙂'))}"
        message = self._ledger.said(self.name, self._number, text)
        got = await self._ask(text, message.key, patient=not self._chance(GIVES_UP))
        if got is None:
            message.given_up = True
            self._ledger.counts["given up"] += 1
        else:
            self._take(message, *got)

    async def _repeat(self, message: Message | None) -> None:
        if message is not None:
            self._ledger.counts["repeated"] += 1
            got = await self._ask(message.text, message.key, patient=True)
            if got is not None:
                self._take(message, *got)

    async def _contradict(self, message: Message | None) -> None:
        if message is not None:
            got = await self._ask("0: something else", message.key, patient=True)
            if got is not None and got[0] != 422:
                self._ledger.complain(f"{self.name} {message.number}: other words got {got}")

    def _take(self, message: Message, status: int, body: dict[str, Any]) -> None:
        if status == 200:
            self._ledger.told(self.name, message, body)
        else:
            self._ledger.complain(f"{self.name} {message.number}: got {status} {body}")

    async def _ask(
        self, text: str, key: str | None, *, patient: bool
    ) -> tuple[int, dict[str, Any]] | None:
        """Ask until there is an answer; None if there is none, or an impatient one gives up."""
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

    def _earlier(self) -> Message | None:
        recent = self._ledger.people[self.name][-50:]
        answered = [each for each in recent if each.answer is not None]
        return self._random.choice(answered) if answered else None

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    @property
    def _counts(self) -> Counter[str]:
        return self._ledger.counts
