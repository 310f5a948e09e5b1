"""Endpoints of evaluation runs: the folders of `prolocutor evaluate run`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Final, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from prolocutor.catalog import Catalog
from prolocutor.contracts.channel import Route
from prolocutor.contracts.run_reading import (
    RowKind,
    RowQuery,
    RunDetails,
    RunReader,
    RunRow,
    RunSummary,
)
from prolocutor.contracts.store import ArchiveStore
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.console.paging import Cursor, CursorCodec, Limit
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.operations import Operation, TypedRequest

T = TypeVar("T")

READERS: Final = Catalog[Callable[[Path], RunReader]](
    "reader of evaluation runs", "prolocutor.run_readers"
)

OtherRun: TypeAlias = Annotated[
    str | None, Meta(description="The name of another run over the same examples.")
]

ROW_CURSOR: Final = CursorCodec(int)


class RunPath(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a request about a run."""

    name: str
    against: OtherRun = None


class RunRowParams(RunPath, frozen=True, kw_only=True):
    """The parameters of a request for rows of a run."""

    kind: RowKind | None = None
    group: Annotated[str | None, Meta(description="Only examples of this group.")] = None
    cursor: Cursor = None
    limit: Limit = 50


class RunList(msgspec.Struct, frozen=True):
    """The runs, the latest first; `folder` says whether the console was given one."""

    items: list[RunSummary]
    folder: bool


class RunRowList(msgspec.Struct, frozen=True):
    """Rows of a run, in order."""

    items: list[RunRow]
    next: str | None


class RunEndpoints:
    """Shows the runs in one folder, `runs` of the door's options."""

    def __init__(self, folder: Path | None, store: ArchiveStore) -> None:
        self._folder = folder
        self._store = store
        self._reader: RunReader | None = None
        self._reading = asyncio.Lock()
        errors = (NotFound, BadInput)
        show = Operation(self.show_run, errors=errors)
        rows = Operation(self.list_rows, errors=errors)
        self.routes = [
            Route("GET", f"{BASE}/runs", Operation(self.list_runs), "operators"),
            Route("GET", f"{BASE}/runs/{{name}}", show, "operators"),
            Route("GET", f"{BASE}/runs/{{name}}/rows", rows, "operators"),
        ]

    async def list_runs(self, request: TypedRequest[None, None]) -> RunList:
        """List the evaluation runs."""
        if self._folder is None:
            return RunList([], folder=False)
        return RunList(await self._read(lambda reader: reader.list_runs()), folder=True)

    async def show_run(self, request: TypedRequest[RunPath, None]) -> RunDetails:
        """Show a run: its figures, groups and intervals, and its differences from another run."""
        params = request.params
        return await self._read(lambda reader: reader.details(params.name, params.against))

    async def list_rows(self, request: TypedRequest[RunRowParams, None]) -> RunRowList:
        """List rows of a run; with `against`, the flipped rows."""
        params = request.params
        after = ROW_CURSOR.read(params.cursor) or 0
        wanted = RowQuery(kind=params.kind, group=params.group, against=params.against)
        page = await self._read(
            lambda reader: reader.rows(params.name, wanted, max(0, after), params.limit)
        )
        return RunRowList(page.items, ROW_CURSOR.write(page.next))

    @asynccontextmanager
    async def drop_deleted(self) -> AsyncIterator[None]:
        """Leave data out of the runs if it is deleted from the store while the block runs."""
        if self._folder is None or not READERS.names():
            yield
            return
        named = await self._read(lambda reader: reader.dialogs())
        there = {one for one in named if await self._store.find_owner(one) is not None}
        try:
            yield
        finally:
            gone = {one for one in there if await self._store.find_owner(one) is None}
            if gone:
                await self._read(lambda reader: reader.leave_out(gone))

    async def _read(self, work: Callable[[RunReader], T]) -> T:
        async with self._reading:  # a reader is made for one thread at a time
            return await asyncio.to_thread(lambda: work(self._made()))

    def _made(self) -> RunReader:
        if self._folder is None:
            what = "the console was given no folder of runs: doors: {console: {runs: FOLDER}}"
            raise NotFound(what, field="name")
        if self._reader is None:
            self._reader = _make_reader(self._folder)
        return self._reader


def _make_reader(folder: Path) -> RunReader:
    names = READERS.names()
    if not names:
        raise NotFound("no installed plug-in reads evaluation runs", field="name")
    return READERS.make(names[0], folder)
