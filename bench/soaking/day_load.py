"""The people of a simulated day: few at night, many at noon, by HTTP and by open sockets."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections import Counter
from typing import Any, Final

import aiohttp

HOURS: Final = 24
NIGHT: Final = 0.05
"""The load at midnight beside that at noon."""

IN_SOCKETS: Final = 0.3
"""The share of visits over a socket, which stays open for a while."""

_NUMBER: Final = re.compile(r"number (\d+):")

SAID: Final = (
    "hello",
    "what time is it?",
    "tell me more about " + "it " * 60,
    "ok",
    "grüß dich 🦜",
)


def load_at(hour: float) -> float:
    """Return how much is said at an hour of the day, 1 at noon; the evening mirrors the morning."""
    return NIGHT + (1 - NIGHT) * math.sin(math.pi * hour / HOURS) ** 2


class DayLoad:
    """Visits of people, each with some turns. `people` come back; `visits` is their number a day.

    What was measured is in `latency` (seconds of turns by hour of the day) and `seen` (answers by
    kind).
    """

    def __init__(self, url: str, *, people: int, visits: int, seconds: float, seed: int) -> None:
        self._url = url
        self._people = people
        self._visits = visits
        self._seconds = seconds
        self._chance = random.Random(seed)
        self.latency: dict[int, list[float]] = {hour: [] for hour in range(HOURS)}
        self.seen: Counter[str] = Counter()
        self.open_sockets = 0
        self._begun = 0.0
        self._numbers: dict[str, int] = {}
        self.complaints: list[str] = []

    @property
    def hour(self) -> float:
        """The hour of the simulated day."""
        return min(HOURS - 0.001, (time.monotonic() - self._begun) / self._seconds * HOURS)

    async def run(self) -> None:
        """Simulate the day."""
        self._begun = time.monotonic()
        mean = sum(load_at(hour + 0.5) for hour in range(HOURS)) / HOURS
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=20)
        timeout = aiohttp.ClientTimeout(total=60)
        free = list(range(self._people))
        async with (
            aiohttp.ClientSession(self._url, connector=connector, timeout=timeout) as http,
            asyncio.TaskGroup() as group,
        ):
            while time.monotonic() - self._begun < self._seconds:
                rate = self._visits / self._seconds * load_at(self.hour) / mean
                await asyncio.sleep(self._chance.expovariate(rate))
                if free:
                    index = self._chance.randrange(len(free))
                    free[index], free[-1] = free[-1], free[index]
                    group.create_task(self._visit(http, free.pop(), free))

    async def _visit(self, http: aiohttp.ClientSession, person: int, free: list[int]) -> None:
        user, turns = f"p{person}", self._chance.randint(1, 6)
        try:
            if self._chance.random() < IN_SOCKETS:
                await self._by_socket(http, user, turns)
            else:
                for _ in range(turns):
                    await self._say(http, user)
                    await asyncio.sleep(self._chance.expovariate(1))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.seen[f"broken: {type(error).__name__}"] += 1
        finally:
            free.append(person)

    async def _say(self, http: aiohttp.ClientSession, user: str) -> None:
        body = {"user_id": user, "payload": self._chance.choice(SAID)}
        begun, hour = time.monotonic(), int(self.hour)
        if self._chance.random() < 0.01:  # who closes the page while the answer comes
            with_limit = aiohttp.ClientTimeout(total=0.01)
            try:
                async with http.post("/", json=body, timeout=with_limit) as response:
                    await response.read()
            except TimeoutError:
                self.seen["left"] += 1
            return
        async with http.post("/", json=body) as response:
            answer = await response.json()
        self._note(begun, hour, "answered" if response.status == 200 else f"{response.status}")
        if response.status == 200:
            self._check(user, answer["response"])

    def _check(self, user: str, text: str) -> None:
        """Note a complaint if a number does not grow: a turn was lost, or done twice."""
        if (found := _NUMBER.match(text)) is not None:
            number = int(found[1])
            if number <= self._numbers.get(user, 0):
                self.complaints.append(f"{user}: {number} after {self._numbers[user]}")
            self._numbers[user] = number

    async def _by_socket(self, http: aiohttp.ClientSession, user: str, turns: int) -> None:
        async with http.ws_connect(f"/api/conversation?events=1&user={user}") as socket:
            self.open_sockets += 1
            try:
                await self._until_asked(socket)
                for _ in range(turns):
                    begun, hour = time.monotonic(), int(self.hour)
                    await socket.send_json({"type": "command", "text": self._chance.choice(SAID)})
                    await self._until_asked(socket)
                    self._note(begun, hour, "answered")
                    await asyncio.sleep(self._chance.expovariate(1 / 4))
                if self._chance.random() < 0.2:  # a network that goes away
                    transport = socket._response.connection
                    if transport is not None and transport.transport is not None:
                        transport.transport.abort()
            finally:
                self.open_sockets -= 1

    async def _until_asked(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Read frames up to the one that says that it is the person's turn."""
        async with asyncio.timeout(60):
            while True:
                frame: Any = await socket.receive_json()
                if frame.get("type") == "error":
                    self.seen[f"error: {frame.get('code')}"] += 1
                if frame.get("type") == "askSpecial":
                    return

    def _note(self, begun: float, hour: int, kind: str) -> None:
        self.seen[kind] += 1
        self.latency[hour].append(time.monotonic() - begun)
