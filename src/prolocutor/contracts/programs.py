"""Programs: the runner of programs that people send in place of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

from prolocutor.contracts.store import AgendaEntry, OpenedTurn
from prolocutor.dialog.inputs import DirectReply


class ProgramSource(msgspec.Struct, frozen=True, kw_only=True):
    """A program as clients send it: as source text, or as tokens.

    `entities` are the values of tokens such as `NUMBER_0`. `slots` are the names of
    the slots `SLOT_0`, `SLOT_1`, ..., `slot_types` the types of the slots by name.
    """

    text: str | None = None
    code: list[str] = []
    entities: dict[str, Any] = {}
    slots: list[str] = []
    slot_types: dict[str, Any] = {}


class ProgramWish(msgspec.Struct, frozen=True, kw_only=True):
    """A person's wish about running programs: to hear which, or to stop some.

    `about` are words of the programs in question, None for all; `kind` is the word for them: a
    timer, a monitor, a program.
    """

    what: Literal["list", "stop"]
    about: str | None = None
    kind: str = ""


class ProgramStart(msgspec.Struct, frozen=True, kw_only=True):
    """A program to run in a turn, or to continue, or a wish about running programs.

    If a program asked for something, `source` is None, `context` is from its `ProgramRun` and
    `answer` the value of the answer.
    """

    opened: OpenedTurn
    source: ProgramSource | None = None
    wish: ProgramWish | None = None
    context: Any = None
    answer: Any = None


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a run, and its changes to the agenda.

    - `words` may ask for something.
    - `context` is then stored with the ask and comes back with the answer, `code` and `entities`
      are shown to clients beside the ask.
    - `entries` go on the agenda, `struck` (skill and key) come off it.
    - `human_attributes` are stored in the person's profile.
    - `refused`: the input is not a program.
    - `declined`: the words are not about programs after all.
    - `more` is the source of a program for further results, None where there are none.
    """

    words: DirectReply
    context: Any = None
    code: list[str] = []
    entities: dict[str, Any] = {}
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()
    human_attributes: dict[str, Any] = {}
    refused: bool = False
    declined: bool = False
    more: str | None = None


class ProgramInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How a program is shown to its person; None where the program itself decides."""

    name: str | None = None
    description: str | None = None
    icon: str | None = None


class StatementResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result of a statement of a program.

    `raw` is the result as an object, `type` is its function (`com.xkcd:get_comic`), `formatted` are
    the messages to show it.
    """

    raw: dict[str, Any]
    type: str | None
    formatted: list[dict[str, Any]]


class CreatedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a program started outside of dialogs.

    `results` has an item for each result. With `errors` and an empty `id` the program was refused.
    `entries` are on the agenda already.
    """

    id: str
    description: str
    code: str
    icon: str | None = None
    results: list[StatementResult] = []
    errors: list[str] = []
    entries: Sequence[AgendaEntry] = ()


class RunningProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program that goes on between turns; `error` says why its last run failed."""

    id: str
    name: str
    description: str
    code: str
    icon: str | None = None
    error: str | None = None


class ProgramRunner(Protocol):
    """Runs programs, each within a turn of its person. An interrupted turn runs them again."""

    def find_wish(self, text: str) -> ProgramWish | None:
        """Return the wish about running programs in a text; None for any other text."""

    async def run(self, start: ProgramStart) -> ProgramRun:
        """Run or continue a program. Its errors are said in `words`, not raised."""

    async def due(self, entry: AgendaEntry) -> ProgramRun:
        """Run the program of a due agenda entry (`Notice.program`).

        The entry is removed when the program's messages are delivered; an entry of `entries` may
        take its place. An exception postpones the entry.
        """


class Programs(ProgramRunner, Protocol):
    """Runs programs, and starts, lists and stops programs that go on between turns."""

    async def warm(self) -> None:
        """Get ready before the first program."""

    async def create(self, user: str, code: str, info: ProgramInfo) -> CreatedProgram:
        """Run a program that lacks no values, or start it if it goes on, outside of dialogs.

        Must be called between the turns of the person.
        """

    async def apps(self, user: str) -> list[RunningProgram]:
        """Return the running programs of a person."""

    async def delete(self, user: str, program_id: str) -> bool:
        """Stop a running program for good; return False if there is none of this id."""
