"""JobRegister: jobs that take longer than a request, their progress and their results."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final, Literal

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.errors import NotFound, Overloaded, ProlocutorError

log = logging.getLogger(__name__)

MOST_WAITING: Final = 20
"""Jobs of a kind that may wait."""

MOST_ENDED: Final = 100
"""Jobs that are remembered after their end; the oldest are forgotten first."""

JobState = Literal["waits", "runs", "done", "failed", "stopped"]


class Job:
    """A job, whose progress is `share`, from 0 to 1."""

    def __init__(self, kind: str, by: str, number: int, about: str | None = None) -> None:
        self.id = new_id()
        self.about = about
        """The id of the reply that it is about; a job about a deleted one is forgotten."""
        self.number = number
        self.kind = kind
        self.by = by
        self.created = time.time()
        self.state: JobState = "waits"
        self.share = 0.0
        self.error: str | None = None
        self.result: msgspec.Raw | None = None
        """The JSON of what the work returned."""


Work = Callable[[Job], Awaitable[object]]


class JobRegister:
    """The jobs of a process, by id.

    `at_once` is the number of simultaneous jobs of a kind; further jobs wait. Jobs end
    with the process.
    """

    def __init__(self, at_once: Mapping[str, int]) -> None:
        self._lanes = {kind: asyncio.Semaphore(number) for kind, number in at_once.items()}
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running = BackgroundTasks("job")
        self._last = 0

    def start(self, kind: str, work: Work, *, by: str, about: str | None = None) -> Job:
        """Run `work(job)` when its turn comes; its return value, a Struct or JSON, is the result.

        `about` is the id of the job's reply, if it has one. A `ProlocutorError` of `work`
        becomes the job's error, any other exception is logged. Raise `Overloaded` if too many jobs
        of this kind wait.
        """
        waiting = [job for job in self._jobs.values() if job.kind == kind and job.state == "waits"]
        if len(waiting) >= MOST_WAITING:
            raise Overloaded(f"{len(waiting)} jobs of this kind wait already; try again later")
        self._last += 1
        job = Job(kind, by, self._last, about)
        self._jobs[job.id] = job
        task = self._running.start(self._run(job, work))
        task.add_done_callback(partial(self._note_end, job))
        self._tasks[job.id] = task
        self._forget()
        return job

    def find(self, id_: str) -> Job:
        """Return a job; raise `NotFound` for an unknown or forgotten one."""
        if (job := self._jobs.get(id_)) is None:
            raise NotFound(f"no job has the id {id_!s:.80}", field="id")
        return job

    def newest(self, before: int | None, limit: int) -> list[Job]:
        """Return the jobs whose number is smaller than `before`, the newest first."""
        newest_first = reversed(self._jobs.values())
        return list(islice((j for j in newest_first if before is None or j.number < before), limit))

    async def wait_for_end(self, id_: str) -> Job:
        """Wait until a job has ended, and return it."""
        job = self.find(id_)
        if (task := self._tasks.get(id_)) is not None:
            await asyncio.wait({task})
        return job

    async def stop(self, id_: str) -> Job:
        """Cancel a running job, wait for its end, and return it."""
        if (task := self._tasks.get(id_)) is not None:
            task.cancel()
        return await self.wait_for_end(id_)

    async def aclose(self) -> None:
        """Cancel all jobs."""
        await self._running.aclose()

    async def _run(self, job: Job, work: Work) -> None:
        try:
            async with self._lanes[job.kind]:
                job.state = "runs"
                job.result = msgspec.Raw(plain.encode(await work(job)))
            job.state, job.share = "done", 1.0
        except ProlocutorError as error:
            job.state, job.error = "failed", str(error)
        except Exception:
            log.exception("the job %s (%s) failed", job.id, job.kind)
            job.state, job.error = "failed", f"something went wrong; it is logged as {job.id}"

    def _note_end(self, job: Job, task: asyncio.Task[None]) -> None:
        del self._tasks[job.id]
        if task.cancelled():  # possibly before its first step
            job.state = "stopped"

    def forget(self, id_: str) -> None:
        """Forget a job and its result; a running job is cancelled."""
        if (task := self._tasks.get(id_)) is not None:
            task.cancel()
        self._jobs.pop(id_, None)

    def _forget(self) -> None:
        ended = [id_ for id_ in self._jobs if id_ not in self._tasks]
        for id_ in ended[: max(0, len(ended) - MOST_ENDED)]:
            del self._jobs[id_]


class JobPath(msgspec.Struct, frozen=True):
    """The parameters of a request about a job."""

    id: str


class JobStarted(msgspec.Struct, frozen=True):
    """The id of a job, whose progress and result are at `/api/console/jobs/{id}`."""

    job: str


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job: its state, its progress (0 to 1), and its error or its result."""

    id: str
    kind: str
    by: str
    created: float
    state: JobState
    share: float
    error: str | None
    result: Any


def make_job_view(job: Job) -> JobView:
    """Return the view of a job."""
    return JobView(
        id=job.id,
        kind=job.kind,
        by=job.by,
        created=job.created,
        state=job.state,
        share=job.share,
        error=job.error,
        result=job.result,
    )
