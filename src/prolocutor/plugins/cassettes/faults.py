"""Faults on purpose between an assistant and its agents."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from prolocutor.assistant.call_recording import CallRecorder
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.connector import Connector, Replies, Request
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadInput, BadReply, ServiceError, ServiceLate, ServiceUnreachable
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Call, Pipeline, StageService
from prolocutor.plugins.cassettes.recording import is_own, service_key

KINDS: Final = ("late", "garbage", "dead", "slow")
SHARE: Final = 0.25
"""The share of calls that go wrong, where none is said."""

_GARBAGE: Final[Sequence[Any]] = (
    None,
    ["<html>502 Bad Gateway</html>"],
    {"unexpected": ["shape", {"of": 1}]},
    [{"text": None, "confidence": "very"}],
    [{"text": "", "confidence": 1.0}],
    [{"text": "x" * 20_000, "confidence": -3}],
    [[], 7, {"text": 5}],
)


class FaultyAgents:
    """Makes a `share` of the calls of agents fail, in a random kind of `kinds`.

    `late` never answers, `garbage` answers with a foreign value, `dead` cannot be reached, `slow`
    takes most of its time-out. Seed and call alone decide whether a call fails. `told` counts the
    faults by kind.
    """

    def __init__(self, kinds: Sequence[str], *, share: float = SHARE, seed: int = 42) -> None:
        for kind in kinds:
            if kind not in KINDS:
                raise BadInput(f"there is no fault {kind!r}; {suggest(kind, KINDS)}")
        self.kinds = list(kinds)
        self.share = share
        self.seed = seed
        self.told: dict[str, int] = dict.fromkeys(kinds, 0)

    @classmethod
    def read(cls, text: str, seed: int) -> FaultyAgents:
        """Read `late,garbage` or `late,garbage:0.5`; raise `BadInput`."""
        kinds, colon, share = text.partition(":")
        try:
            number = float(share) if colon else SHARE
        except ValueError:
            raise BadInput(f"{share!r} is not a share; write it as late,dead:0.5") from None
        if not 0 < number <= 1:
            raise BadInput(f"a share of faults is above 0 and at most 1, not {number:g}")
        names = [one.strip() for one in kinds.split(",") if one.strip()]
        return cls(names, share=number, seed=seed)

    def make_recorder(self, recorder: CallRecorder | None) -> CallRecorder:
        """Return a recorder that makes agents fail, in front of another recorder, if any."""
        return _FaultyCalls(self, recorder)

    def find_fault(self, service: str, number: int) -> str | None:
        """Return the kind of fault of a service's call by its number, or None."""
        chance = random.Random(f"{self.seed} {service} {number}")
        if not self.kinds or chance.random() >= self.share:
            return None
        kind = chance.choice(self.kinds)
        self.told[kind] += 1
        return kind

    def garbage(self, service: str, number: int) -> Any:
        """Return a foreign value in place of a reply."""
        return random.Random(f"{self.seed} {service} {number} garbage").choice(_GARBAGE)


class _FaultyCalls:
    """A recorder in front of another: calls of agents fail, calls of own functions do not."""

    def __init__(self, faults: FaultyAgents, inner: CallRecorder | None) -> None:
        self._faults = faults
        self._inner = inner

    def begin(self, name: str, pipeline: Pipeline, file: Any = None) -> None:
        if self._inner is not None:
            self._inner.begin(name, pipeline, file)

    def connect(self, service: StageService, make: Callable[[], Connector]) -> Connector:
        inner = make() if self._inner is None else self._inner.connect(service, make)
        key = service_key(service)
        if is_own(service) and not key.startswith("skills."):
            return inner
        return _FaultyConnector(self._faults, key, inner)

    def endpoint(self, name: str, call: Call, verb: str, make: Callable[[], Any]) -> Any:
        return make() if self._inner is None else self._inner.endpoint(name, call, verb, make)

    def follow(self, input: TurnInput, turn: asyncio.Future[TurnResult]) -> None:
        if self._inner is not None:
            self._inner.follow(input, turn)


class _FaultyConnector:
    """A connector whose calls fail now and then."""

    def __init__(self, faults: FaultyAgents, key: str, inner: Connector) -> None:
        self._faults = faults
        self._key = key
        self._inner = inner
        self._calls = 0
        self.format = str(getattr(inner, "format", "plain"))

    async def send(self, requests: Sequence[Request]) -> Replies:
        self._calls += 1
        kind = self._faults.find_fault(self._key, self._calls)
        if kind == "dead":
            raise ServiceUnreachable("nobody is there (a fault on purpose)")
        if kind == "late":
            await asyncio.sleep(requests[0].timeout + 1.0)
            raise ServiceLate("no answer in time")
        if kind == "garbage":
            return [self._garbage() for _ in requests]
        if kind == "slow":
            await asyncio.sleep(requests[0].timeout * 0.6)
        return await self._inner.send(requests)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _garbage(self) -> Plain | ServiceError:
        try:
            return plain.check(self._faults.garbage(self._key, self._calls))
        except BadReply as error:
            return error
