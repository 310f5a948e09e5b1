"""Jobs: one after the other in their lane, with a result, an error or an end."""

import asyncio

import msgspec
import pytest

from prolocutor.dialog import plain
from prolocutor.errors import BadInput, NotFound, Overloaded
from prolocutor.plugins.console.jobs import MOST_WAITING, Job, JobRegister, make_job_view


class Sum(msgspec.Struct):
    total: int


async def test_jobs_of_a_kind_wait_for_each_other_and_may_be_stopped() -> None:
    jobs = JobRegister({"train": 1, "again": 2})
    running, go = asyncio.Event(), asyncio.Event()

    async def adding(job: Job) -> Sum:
        running.set()
        job.share = 0.5
        await go.wait()
        return Sum(7)

    async def broken(job: Job) -> None:
        raise BadInput("there are no labels")

    first, second = (jobs.start("train", adding, by="eve") for _ in range(2))
    unstarted = jobs.start("again", adding, by="eve")
    unstarted = await jobs.stop(unstarted.id)
    failing = jobs.start("again", broken, by="eve")
    await running.wait()
    seen = [(job.state, job.share) for job in (first, second)]
    stopped = await jobs.stop(second.id)
    go.set()
    await jobs.wait_for_end(first.id)
    await jobs.wait_for_end(failing.id)

    assert seen == [("runs", 0.5), ("waits", 0.0)]
    assert stopped.state == "stopped"
    assert unstarted.state == "stopped"
    shown = plain.decode(plain.encode(make_job_view(first)))
    assert shown["state"] == "done"
    assert shown["share"] == 1.0
    assert shown["result"] == {"total": 7}
    assert failing.error == "there are no labels"
    assert make_job_view(failing).result is None
    await jobs.aclose()


async def test_there_is_a_bound_for_jobs_that_wait_and_ended_ones_are_forgotten() -> None:
    jobs = JobRegister({"train": 1})

    async def waiting(job: Job) -> None:
        await asyncio.Event().wait()

    started = [jobs.start("train", waiting, by="eve") for _ in range(MOST_WAITING)]
    with pytest.raises(Overloaded):
        jobs.start("train", waiting, by="eve")
    await jobs.aclose()
    assert {job.state for job in started} == {"stopped"}
    with pytest.raises(NotFound):
        jobs.find("f" * 32)
