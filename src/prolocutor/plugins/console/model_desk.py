"""ModelDesk: the models in use by an assistant's selectors, further models, and their history."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec

from prolocutor.assistant.operator_desk import OperatorLabels
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.model_use import ModelInUse, ModelShelf, StoredModel, TrainingReport
from prolocutor.contracts.pairing import Role
from prolocutor.contracts.store import Store
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, ConfigError, Conflict, NotFound

log = logging.getLogger(__name__)

KIND: Final = "live"
LOOK_INTERVAL: Final = 1.0
"""Seconds between two looks at the folders."""

_MAX_RECORDS: Final = 200
"""Records of models put live that are kept."""

ModelState = Literal["live", "new", "former"]


class PutLive(msgspec.Struct, frozen=True, kw_only=True):
    """A replacement of the model `before` ("" for none), with the time and the operator."""

    at: float
    by: str
    role: Role
    model: str
    before: str


class ConsoleModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model: in use (`live`), trained and not used yet (`new`), or used before (`former`).

    `learned` is its number of learned questions, `made` the UTC date. `since` and `by` are the time
    and the operator of the last time it was put live here; `report` compares it with the former
    model.
    """

    id: str
    role: Role
    method: str
    state: ModelState
    made: str
    learned: int
    note: str
    since: float | None
    by: str | None
    report: TrainingReport | None


class ModelDesk:
    """Lists models and puts them in use; replicas with the same folders follow."""

    def __init__(
        self,
        store: Store,
        labels: OperatorLabels,
        models: Sequence[ModelInUse],
        *,
        has_data: bool = False,
    ) -> None:
        self._store, self._labels, self._has_data = store, labels, has_data
        self._models = list(models)
        self._shelves = {one.role: one.source.shelf for one in models}
        self._lock = asyncio.Lock()
        self._watching = BackgroundTasks("models")

    def open(self) -> None:
        """Remove the folders of interrupted trainings, and watch the folders of models."""
        if self._models:
            for shelf in self._shelves.values():
                shelf.sweep()
            self._watching.start(self._watch())

    async def aclose(self) -> None:
        """Stop watching."""
        await self._watching.aclose()

    @property
    def roles(self) -> list[Role]:
        """The roles whose models are read from folders."""
        return [one.role for one in self._models]

    @property
    def problems(self) -> list[str]:
        """The faults of learning, if any."""
        return [one.source.problem for one in self._models if one.source.problem]

    def find_in_use(self, role: Role) -> tuple[ModelInUse, ModelShelf]:
        """Return the model of a role and its shelf; raise `BadInput` for a role without folder."""
        for one in self._models:
            if one.role == role:
                return one, self._shelves[role]
        stage = "skill_selector" if role == "router" else "response_selector"
        what = f"the assistant has no {role} with a folder: {stage}: {{{role}: ..., model: FOLDER}}"
        raise BadInput(what, field="what")

    async def idle_roles(self) -> list[Role]:
        """Name the roles without anything to learn: no data, no label, no thumb."""
        if self._has_data or await self._labels.all_labels():
            return []
        return [role for role, number in (await self.count_thumbs()).items() if not number]

    async def count_thumbs(self) -> dict[Role, int]:
        """Return the number of ratings for each role to learn; a learner knows which are of use."""
        return {
            one.role: await self._store.rating_count()
            if one.learner is None
            else len(one.learner.lessons())
            for one in self._models
        }

    async def list_models(self) -> list[ConsoleModel]:
        """Return all models: the models in use first, then the others, the latest first."""
        history = await self.history()
        labels = await self._labels.all_labels()
        known = {(label.id, turn.text) for label in labels for turn in label.turns}
        found: list[ConsoleModel] = []
        for role, shelf in self._shelves.items():
            live = await asyncio.to_thread(_live, shelf)
            shelved = await asyncio.to_thread(shelf.models)
            used = {id_ for one in history if one.role == role for id_ in (one.model, one.before)}
            reports = {one.model.id: _drop_deleted(one.report, known) for one in shelved}
            if live is not None:
                found.append(_show_model(role, live, "live", reports.get(live.id), history))
            for one in shelved:
                if live is None or one.model.id != live.id:
                    state: ModelState = "former" if one.model.id in used else "new"
                    shown = _show_model(role, one.model, state, reports[one.model.id], history)
                    found.append(shown)
        return sorted(found, key=lambda one: one.state != "live")

    async def history(self) -> list[PutLive]:
        """Return the records of models put live, the oldest first."""
        found = []
        for body in (await self._store.records("", KIND)).values():
            with suppress(msgspec.MsgspecError):
                found.append(msgspec.json.decode(body, type=PutLive))
        return found

    async def put_live(self, id_: str, by: str) -> PutLive:
        """Replace the model in use; running turns keep the old model.

        Raise `NotFound` for an unknown model, `Conflict` for a damaged model or another method than
        that of the assistant's file.
        """
        async with self._lock:
            role = await self._find_role(id_)
            used, shelf = self.find_in_use(role)
            chosen = [one for one in await asyncio.to_thread(shelf.models) if one.model.id == id_]
            if chosen and chosen[0].model.method != used.method:
                what = f"{id_} is a {chosen[0].model.method}, and the file names {used.method}"
                raise Conflict(what, field="id")
            try:
                before = await asyncio.to_thread(shelf.install, id_)
            except ConfigError as error:
                raise Conflict(f"{id_} cannot be put live: {error.what}", field="id") from None
            done = PutLive(at=time.time(), by=by, role=role, model=id_, before=before)
            if before != id_:
                await self._store.put_record("", KIND, new_id(), plain.encode(done))
                await self._bound()
            await asyncio.to_thread(used.source.reload)
            former = {one for each in await self.history() for one in (each.model, each.before)}
            await asyncio.to_thread(shelf.tidy, former)
            return done

    async def delete(self, id_: str) -> None:
        """Delete an unused model; raise `NotFound` for an unknown model."""
        async with self._lock:
            role = await self._find_role(id_)
            _, shelf = self.find_in_use(role)
            live = await asyncio.to_thread(_live, shelf)
            if live is not None and live.id == id_:
                raise Conflict(f"{id_} is in use: put another one live first", field="id")
            await asyncio.to_thread(shelf.delete, id_)

    async def _find_role(self, id_: str) -> Role:
        for one in await self.list_models():
            if one.id == id_:
                return one.role
        raise NotFound(f"no model has the id {id_!s:.80}", field="id")

    async def _bound(self) -> None:
        keys = [*await self._store.records("", KIND)]
        for key in keys[: max(0, len(keys) - _MAX_RECORDS)]:
            await self._store.delete_record("", KIND, key)

    async def _watch(self) -> None:
        """Watch for replaced models, for the next turn to get the new model."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL)
            for one in self._models:
                _ = one.source.latest


def _live(shelf: ModelShelf) -> StoredModel | None:
    try:
        return shelf.live()
    except ConfigError as error:
        log.warning("the model in use cannot be read: %s", error)
        return None


def _drop_deleted(
    report: TrainingReport | None, known: Collection[tuple[str, str]]
) -> TrainingReport | None:
    """Leave out the questions of persons whose labels no longer exist."""
    if report is None:
        return None
    flips = [one for one in report.flips if not one.label or (one.label, one.text) in known]
    return msgspec.structs.replace(report, flips=flips)


def _show_model(
    role: Role,
    model: StoredModel,
    state: ModelState,
    report: TrainingReport | None,
    history: Sequence[PutLive],
) -> ConsoleModel:
    last = next((one for one in reversed(history) if one.model == model.id), None)
    return ConsoleModel(
        id=model.id,
        role=role,
        method=model.method,
        state=state,
        made=model.made,
        learned=model.learned,
        note=model.note,
        since=None if last is None else last.at,
        by=None if last is None else last.by,
        report=report,
    )
