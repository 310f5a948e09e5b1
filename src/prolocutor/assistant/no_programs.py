"""NoPrograms: what stands in the place of what runs programs where no language is installed."""

from __future__ import annotations

from typing import Final

from prolocutor.assistant.rounds.own_words import says
from prolocutor.contracts.programs import (
    CreatedProgram,
    ProgramInfo,
    ProgramRun,
    ProgramStart,
    RunningProgram,
)
from prolocutor.contracts.store import AgendaEntry
from prolocutor.errors import MissingExtra

NONE: Final = "Programs cannot be run here: no language for them is installed."


class NoPrograms:
    """Refuses programs; wishes about running ones are left to the skills."""

    async def warm(self) -> None:
        """Have nothing to get ready."""

    async def run(self, start: ProgramStart) -> ProgramRun:
        """Say that there are no programs, or leave the words to the skills."""
        return ProgramRun(words=says(NONE), refused=True, declined=start.wish is not None)

    async def due(self, entry: AgendaEntry) -> ProgramRun:
        """Raise `MissingExtra`: the entry waits for the language to be back."""
        raise MissingExtra(NONE)

    async def create(self, user: str, code: str, info: ProgramInfo) -> CreatedProgram:
        """Refuse the program."""
        return CreatedProgram(id="", description="", code=code, errors=[NONE])

    async def apps(self, user: str) -> list[RunningProgram]:
        """Return no programs."""
        return []

    async def delete(self, user: str, program_id: str) -> bool:
        """Return that there is none."""
        return False
