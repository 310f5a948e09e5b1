"""RolloutDesk: the states of an assistant's trials in its store, and the decisions on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Literal, Protocol

import msgspec

from prolocutor.assistant.services import RECORDS as SWITCHES
from prolocutor.assistant.services import SwitchedOffBy
from prolocutor.contracts.store import RatedReply, Store, StoredDocument
from prolocutor.dialog import plain
from prolocutor.dialog.dialog import thumb
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, NotFound
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.rollout.estimates import LoggedTurn, TrialEstimates, TrialLog, estimate
from prolocutor.plugins.rollout.trials import Trial
from prolocutor.web.audit_trail import KIND as AUDIT
from prolocutor.web.audit_trail import AuditedAct

LOGGED: Final = "rollout"
"""The kind of the records that turns of a trial add, by `TRIAL/utt_id`; they go with the dialog."""

SHADOWS: Final = "rollout-shadow"
"""The kind of the records that count what became of shadows, one for each trial and process."""

MAX_TURNS: Final = 20_000
"""The latest logged turns that count, of all trials, and the latest ratings."""

TrialState = Literal["running", "stopped", "promoted"]
Action = Literal["promote", "stop"]


class TrialRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored turn of a trial: whether the `new` service was chosen, and the choice's probability.

    `failed`: there was no answer, or the chosen service failed.
    """

    new: bool
    probability: float
    score: float | None = None
    failed: bool = False


class ShadowFigures(msgspec.Struct, kw_only=True):
    """The outcomes of a shadow: the calls that were made, and the calls that caps left out.

    `agreed` counts the answers with the reply's words, out of the `compared` answers of an agent;
    for a router or ranker it counts equal choices. `seconds` and `cost` are sums.
    """

    asked: int = 0
    done: int = 0
    failed: int = 0
    late: int = 0
    left_out: int = 0
    compared: int = 0
    agreed: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def add(self, other: ShadowFigures) -> None:
        """Add the figures of another process."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class TrialStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A trial: its new and old service, its share, its state, and its figures.

    `why` names the author and the reason of the decision, `since` its time (UNIX seconds).
    """

    name: str
    stage: Stage
    instead_of: str | None
    share: float
    state: TrialState
    why: str = ""
    since: float | None = None
    estimates: TrialEstimates | None = None
    shadow: ShadowFigures | None = None

    @property
    def is_harmful(self) -> bool:
        """Whether the new service is surely worse, regardless of the number of looks."""
        always = self.estimates and self.estimates.always
        return bool(always and always[1] < 0)

    @property
    def verdict(self) -> str:
        """The verdict of the figures, in a sentence."""
        estimates = self.estimates
        if self.instead_of is None:
            return "a shadow is seen by nobody: it has no rewards"
        if estimates is None or estimates.always is None:
            return "too few people with a known reward for a verdict"
        low, high = estimates.always
        if high < 0:
            return f"worse than {self.instead_of}"
        return f"better than {self.instead_of}" if low > 0 else "not decided yet"


class Switch(Protocol):
    """Switches a service on or off."""

    def __call__(self, stage: Stage, name: str, /, *, on: bool, by: str) -> Awaitable[None]: ...


class RolloutDesk:
    """Reads the states of trials, and promotes or stops trials.

    To stop a trial is to switch the new service off, to promote it is to switch the old one off:
    `switch` does it. Both are stored, shared by replicas and undone as every switch is.
    """

    def __init__(
        self,
        store: Store,
        trials: Sequence[Trial],
        switch: Switch | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self.trials = list(trials)
        self._switch: Switch = switch or self._write_switch
        self._clock = clock

    async def status(self) -> list[TrialStatus]:
        """Return the status of each trial, in declared order."""
        logged = await self._read_logs()
        counted = await self._shadows()
        off = await self._store.records("", SWITCHES)
        return await asyncio.to_thread(
            lambda: [self._status(trial, logged, counted, off) for trial in self.trials]
        )

    async def decide(self, name: str, action: Action, by: str, address: str = "") -> TrialStatus:
        """Promote or stop a trial; raise `NotFound` for an unknown name.

        The decision goes to the audit trail too.
        """
        trial = self.trial(name)
        if action == "promote" and trial.instead_of is None:
            what = f"{name} takes nobody's place: give it a canary: {{instead_of: ..., share: ...}}"
            raise BadInput(what, field="name")
        await self._switch(trial.stage, trial.name, on=action == "promote", by=by)
        if trial.instead_of is not None:
            how = f"{by}: {trial.name} was promoted"
            await self._switch(trial.stage, trial.instead_of, on=action == "stop", by=how)
        act = AuditedAct(self._clock(), by, address, action.upper(), f"rollout/{name}")
        await self._store.put_record("", AUDIT, new_id(), msgspec.json.encode([act]))
        return next(one for one in await self.status() if one.name == name)

    def trial(self, name: str) -> Trial:
        """Return the trial of a service."""
        names = [trial.name for trial in self.trials]
        if name not in names:
            hint = suggest(name, names) if names else "nothing is tried out"
            raise NotFound(f"no service {name!s:.80} is tried out; {hint}", field="name")
        return self.trials[names.index(name)]

    def _status(
        self,
        trial: Trial,
        logged: Mapping[str, TrialLog],
        counted: Mapping[str, ShadowFigures],
        off: Mapping[str, bytes],
    ) -> TrialStatus:
        state: TrialState = "running"
        switched = off.get(f"{trial.stage}.{trial.name}")
        if switched is not None:
            state = "stopped"
        elif (switched := off.get(f"{trial.stage}.{trial.instead_of}")) is not None:
            state = "promoted"
        own = logged.get(trial.name, TrialLog())
        by = None if switched is None else msgspec.json.decode(switched, type=SwitchedOffBy)
        return TrialStatus(
            name=trial.name,
            stage=trial.stage,
            instead_of=trial.instead_of,
            share=trial.share,
            state=state,
            why="" if by is None else by.by,
            since=None if by is None else by.at,
            estimates=None if trial.instead_of is None else estimate(own),
            shadow=counted.get(trial.name, ShadowFigures()) if trial.shadow is not None else None,
        )

    async def _read_logs(self) -> dict[str, TrialLog]:
        """Return the turns of each trial whose reward is known."""
        rows = await self._store.records_since(LOGGED, limit=MAX_TURNS)
        ratings = await self._store.ratings_since(limit=MAX_TURNS) if rows else []
        return await asyncio.to_thread(_sum_logs, rows, ratings)

    async def _shadows(self) -> dict[str, ShadowFigures]:
        found: dict[str, ShadowFigures] = {}
        for key, body in (await self._store.records("", SHADOWS)).items():
            own = found.setdefault(key.rpartition("/")[0], ShadowFigures())
            own.add(msgspec.json.decode(body, type=ShadowFigures))
        return found

    async def _write_switch(self, stage: Stage, name: str, /, *, on: bool, by: str) -> None:
        """Switch a service of an assistant that runs elsewhere or does not run."""
        key = f"{stage.value}.{name}"
        if on:
            await self._store.delete_record("", SWITCHES, key)
        elif key not in await self._store.records("", SWITCHES):
            body = plain.encode(SwitchedOffBy(by, self._clock()))
            await self._store.put_record("", SWITCHES, key, body)


def _sum_logs(rows: Sequence[StoredDocument], ratings: Sequence[RatedReply]) -> dict[str, TrialLog]:
    """Return the log of each trial; a reply's last thumb takes precedence over a failure."""
    thumbs = {rating.utt_id: thumb(rating.rating) for rating in ratings}
    logs: dict[str, TrialLog] = {}
    for row in rows:
        trial, _, utt_id = row.key.rpartition("/")
        choice = _decode(row.body)
        is_up = thumbs.get(utt_id)
        if is_up is None and not choice.failed:
            continue
        turn = LoggedTurn(
            person=row.user,
            new=choice.new,
            probability=choice.probability,
            reward=float(bool(is_up)),
            score=choice.score,
        )
        logs.setdefault(trial, TrialLog()).add(turn)
    return logs


_decode: Final = msgspec.json.Decoder(TrialRow).decode
