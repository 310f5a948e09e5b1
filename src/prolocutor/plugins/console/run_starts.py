"""Evaluations started by operators: `prolocutor evaluate run` in a process of its own."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.channel import Route
from prolocutor.errors import BadInput, NotFound, Overloaded, ServiceUnreachable
from prolocutor.names import suggest
from prolocutor.plugins.console.jobs import Job, JobRegister, JobStarted
from prolocutor.plugins.console.note_endpoints import NoteEndpoints
from prolocutor.plugins.console.resources import BASE
from prolocutor.plugins.console.turn_notes import Tag
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

_LOOK_INTERVAL: Final = 0.5
"""Seconds between two looks at a running evaluation."""

_ERROR_CHARACTERS: Final = 1000
"""Characters that are shown of a run's error."""
_NO_NAME: Final = re.compile(r"[^\w.-]+")


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """The turns to evaluate: the turns with a `tag`, or the `data` of the door's options.

    `assistant` is one of the door's `assistants`, "" for the assistant in use. `name` is the name
    of the run's folder.
    """

    name: Annotated[str, Meta(min_length=1, max_length=80)]
    assistant: str = ""
    tag: Tag | None = None


class EndedRun(msgspec.Struct, frozen=True):
    """The name of an ended run."""

    name: str


class PossibleRuns(msgspec.Struct, frozen=True):
    """The choices for a run: assistants by name ("" is the one in use), and the door's data."""

    assistants: list[str]
    data: list[str]


class RunStarts:
    """Starts evaluations; `files` are assistants by name, `data` is the door's data (KIND:PATH)."""

    def __init__(
        self,
        jobs: JobRegister,
        notes: NoteEndpoints,
        folder: Path | None,
        *,
        files: Mapping[str, Path],
        data: Sequence[str],
    ) -> None:
        self._jobs, self._notes, self._folder = jobs, notes, folder
        self._files, self._data = files, list(data)
        errors = (BadInput, NotFound, Overloaded)
        start = OperatorWrite(self.start_run, status=202, errors=errors, returns=JobStarted)
        self.routes = [
            Route("GET", f"{BASE}/possible-runs", Operation(self.possible_runs), "operators"),
            Route("POST", f"{BASE}/runs", start, "operators"),
        ]

    async def possible_runs(self, request: TypedRequest[None, None]) -> PossibleRuns:
        """Return the choices for a run; nothing if the console has no folder of runs."""
        return PossibleRuns([] if self._folder is None else list(self._files), self._data)

    async def start_run(self, request: TypedRequest[None, NewRun]) -> JobStarted:
        """Evaluate an assistant on the turns with a tag, or on the door's data."""
        body, folder = request.body, self._folder
        if folder is None:
            what = "the console was given no folder of runs: doors: {console: {runs: FOLDER}}"
            raise NotFound(what, field="name")
        file = self._files.get(body.assistant)
        if file is None:
            known = suggest(body.assistant, self._files) if any(self._files) else "there is none"
            what = f"no assistant is called {body.assistant!s:.80}; {known}"
            raise NotFound(what, field="assistant")
        name = _NO_NAME.sub("-", body.name).strip("-.")
        if not name:
            raise BadInput("the name has no letter, digit or underscore", field="name")
        if (folder / name).exists():
            what = f"there is a run {name!s:.80} already; give another name"
            raise BadInput(what, field="name")
        if body.tag is None and not self._data:
            raise BadInput("name a tag: the console was given no data", field="tag")
        lines = None if body.tag is None else await self._notes.data_set(body.tag)

        async def work(job: Job) -> EndedRun:
            with tempfile.TemporaryDirectory() as place:
                data = self._data
                if lines is not None:
                    own = Path(place, f"{_NO_NAME.sub('-', body.tag or '')}.jsonl")
                    await asyncio.to_thread(own.write_bytes, b"".join(lines))
                    data = [f"jsonl:{own}"]
                await _evaluate(file, data, folder / name, job, len(lines or ()))
            return EndedRun(name)

        return JobStarted(self._jobs.start("evaluate", work, by=request.visitor.name).id)


async def _evaluate(file: Path, data: list[str], out: Path, job: Job, examples: int) -> None:
    """Run an evaluation to its end; raise `ServiceUnreachable` with the reason if it fails."""
    words = ["-m", "prolocutor", "evaluate", "run", str(file), "--out", str(out)]
    words += [word for one in data for word in ("--data", one)]
    run = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE
    )
    looking = BackgroundTasks("progress of an evaluation")
    looking.start(_look(out / "rows.jsonl", examples, job))
    try:
        _, said = await run.communicate()
    finally:
        looking.cancel()
        if run.returncode is None:
            run.kill()
            await run.wait()
    if run.returncode:
        told = said.decode(errors="replace").strip()[-_ERROR_CHARACTERS:]
        raise ServiceUnreachable(f"the evaluation ended with {run.returncode}: {told}")


async def _look(rows: Path, examples: int, job: Job) -> None:
    """Tell the job the progress of a run, by its written rows."""
    while examples:
        with suppress(OSError):
            written = await asyncio.to_thread(rows.read_bytes)
            job.share = min(1.0, written.count(b"\n") / examples)
        await asyncio.sleep(_LOOK_INTERVAL)
