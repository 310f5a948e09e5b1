"""Endpoints of jobs: their progress and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.contracts.channel import Route
from prolocutor.contracts.store import Store
from prolocutor.errors import NotFound
from prolocutor.plugins.console.jobs import Job, JobPath, JobRegister, JobView, make_job_view
from prolocutor.plugins.console.paging import Cursor, CursorCodec, Limit
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

CURSOR: Final = CursorCodec(int)
"""The number of the last job on a page."""


class JobPageParams(msgspec.Struct, frozen=True):
    """The requested page of jobs."""

    cursor: Cursor = None
    limit: Limit = 50


class JobPage(msgspec.Struct, frozen=True):
    """Jobs, the newest first."""

    items: list[JobView]
    next: str | None


class JobEndpoints:
    """Lists jobs, shows them and stops them.

    A job about a reply is forgotten once the reply is deleted, with its person or its dialog.
    """

    def __init__(self, jobs: JobRegister, store: Store) -> None:
        self._jobs = jobs
        self._store = store
        listed = Operation(self.list_jobs)
        show = Operation(self.show_job, errors=[NotFound])
        stop = OperatorWrite(self.stop_job, errors=[NotFound])
        self.routes = [
            Route("GET", f"{BASE}/jobs", listed, "operators"),
            Route("GET", f"{BASE}/jobs/{{id}}", show, "operators"),
            Route("DELETE", f"{BASE}/jobs/{{id}}", stop, "operators"),
        ]

    async def list_jobs(self, request: TypedRequest[JobPageParams, None]) -> JobPage:
        """List the jobs of this process."""
        params = request.params
        before = CURSOR.read(params.cursor)
        found = self._jobs.newest(before, params.limit + 1)
        while await self._forget_deleted(found):
            found = self._jobs.newest(before, params.limit + 1)
        shown = found[: params.limit]
        more = len(found) > len(shown)
        return JobPage(
            [make_job_view(job) for job in shown], CURSOR.write(shown[-1].number if more else None)
        )

    async def show_job(self, request: TypedRequest[JobPath, None]) -> JobView:
        """Show a job."""
        await self._forget_deleted([self._jobs.find(request.params.id)])
        return make_job_view(self._jobs.find(request.params.id))

    async def stop_job(self, request: TypedRequest[JobPath, None]) -> JobView:
        """Stop a waiting or running job."""
        await self._forget_deleted([self._jobs.find(request.params.id)])
        return make_job_view(await self._jobs.stop(request.params.id))

    async def _forget_deleted(self, jobs: Sequence[Job]) -> bool:
        """Forget the jobs whose reply was deleted; return whether there were any."""
        gone = False
        for job in jobs:
            if job.about is not None and await self._store.find_owner(job.about) is None:
                self._jobs.forget(job.id)
                gone = True
        return gone
