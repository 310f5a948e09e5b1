"""Programs: who runs the programs that people send, and takes what they ask for on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from prolocutor.contracts.store import AgendaEntry, OpenedTurn
from prolocutor.dialog.inputs import DirectReply


class ProgramStart(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is to be run in a turn, or to be gone on with.

    `parsed` is what the person sent: `{code, entities, slots?, slotTypes?, example_id?}` or
    `{program}`. Where the program asked for something, `context` is what it had left with its ask
    and `answer` what came (`{"kind", "value", "raw"}`); `parsed` is then empty.
    """

    begun: OpenedTurn
    parsed: dict[str, Any] = {}
    context: Any = None
    answer: dict[str, Any] | None = None


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a program says (its words may ask), and what it puts on the agenda and takes off it.

    `context` is kept with the ask and given back with the answer. `code` and `entities` are the
    context of the ask that clients are sent. `human_attributes` are kept of the person, in a turn.
    `refused`: what came is no program.
    """

    words: DirectReply
    context: Any = None
    code: list[str] = []
    entities: dict[str, Any] = {}
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()
    human_attributes: dict[str, Any] = {}
    refused: bool = False


class ProgramCreated(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a program that was started outside of dialogs.

    `report` is what the caller gets, as JSON: `{uniqueId, description, code, icon, results,
    errors}`, one result per statement. `entries` are on the agenda already.
    """

    report: dict[str, Any]
    entries: Sequence[AgendaEntry] = ()


class ProgramRunner(Protocol):
    """Runs programs, each within a turn of its person. A turn that was cut off runs them again."""

    async def run(self, start: ProgramStart) -> ProgramRun:
        """Run a program, or go on with one. What is wrong with it is said, not raised."""

    async def due(self, entry: AgendaEntry) -> ProgramRun:
        """Do what an entry of the agenda is for that a program left there (`Notice.program`).

        What it raises puts the entry off. Without words nothing is said. The entry is taken off
        the agenda with what is said; one of `entries` may take its place."""


class Programs(ProgramRunner, Protocol):
    """Runs programs, and starts, lists and stops those that go on between turns."""

    async def create(self, user: str, code: str, about: dict[str, str | None]) -> ProgramCreated:
        """Run a program that lacks nothing, or start it if it goes on, outside of dialogs.

        `about` has its `name`, `description` and `icon`. Called between the turns of the person.
        """

    async def apps(self, user: str) -> list[dict[str, Any]]:
        """Return the running programs of a person, as JSON for clients."""

    async def delete(self, user: str, unique_id: str) -> bool:
        """Stop a running program for good; False if there is none of this id."""
