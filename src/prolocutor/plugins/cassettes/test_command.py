"""`prolocutor test`: runs recorded and written conversations, and simulated people."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Final

import click
import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.runner import run
from prolocutor.cli.options import SEED_OPTION, assistant_option
from prolocutor.config.loading import FILE_NAME, load_assistant
from prolocutor.dialog.ids import new_id
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.cassettes.faults import FaultyAgents
from prolocutor.plugins.cassettes.judging import ChatPartner, Judge
from prolocutor.plugins.cassettes.people import (
    LAWS,
    BrokenLaw,
    ModelPerson,
    RulePerson,
    SaidTurn,
    Templates,
    broken_laws,
    collect_templates,
    said_lines,
)
from prolocutor.plugins.cassettes.reports import (
    TestOutcome,
    summary_line,
    table_lines,
    write_junit,
)
from prolocutor.plugins.cassettes.running import TestOptions, TestRun, live_assistant, test_files

FAILED: Final = 1

AT_ONCE: Final = 8
"""People who talk at the same time."""

MOST_TURNS: Final = 60
MOST_TRIES: Final = 200
"""Dialogs that are tried to shorten one."""

_WORD: Final = re.compile(r"\S+")


@click.command(
    short_help="Test an assistant by recorded and written conversations, or by simulated people."
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@assistant_option("The assistant to test.  [default: the one that each file names]")
@click.option("--update", is_flag=True, help="Write cassettes anew, with live agents.")
@click.option(
    "--pace",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SPEED",
    help="Let replies take their recorded time, 2 in half of it.  [default: 0, at once]",
)
@click.option(
    "--live",
    multiple=True,
    metavar="NAME",
    help="Ask this service itself, in place of the cassette; `all` asks all. Repeatable.",
)
@click.option(
    "--faults",
    metavar="KINDS[:SHARE]",
    help="Let calls of agents go wrong: late,garbage,dead,slow.  [share: 0.25]",
)
@click.option("--judge", metavar="MODEL", help="A chat model that grades criteria: a URL or name.")
@click.option(
    "--people",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Let so many people made of rules talk; PATHS are logs that they learn words from.",
)
@click.option(
    "--speaker", metavar="MODEL", help="A chat model that puts the words of these people."
)
@click.option(
    "--junit", metavar="FILE", type=click.Path(path_type=Path), help="Write JUnit XML to FILE."
)
@SEED_OPTION
def test(
    paths: tuple[Path, ...],
    assistant: Path | None,
    update: bool,
    pace: float,
    live: tuple[str, ...],
    faults: str | None,
    judge: str | None,
    people: int | None,
    speaker: str | None,
    junit: Path | None,
    seed: int,
) -> int:
    """Run the cassettes and dialogs of PATHS (files or folders; by default this folder).

    The assistant runs whole. The agents of a cassette answer from it, with the clock of the day of
    the recording; requests, replies, who speaks, attributes and asks are compared. Of dialogs in
    YAML what is expected is checked: with live agents, or with those of a cassette that they name.

    With --people simulated persons talk to the live assistant, by a seed: they follow goals, make
    typos, break off, correct themselves, change the subject, answer asks wrongly. Turns that break
    a law (no reply, an echo, the same words three times, an ask without end, another person's
    words, a late reply) are shown as the shortest dialog that breaks it.

    Exit status: 0 if all passed, 1 if not, 2 if the command was not understood.

    \b
    Examples:
      prolocutor test tests/
      prolocutor test tea.cassette --update
      prolocutor test tea.yaml --judge "http://127.0.0.1:11434/v1?model=llama3" --junit report.xml
      prolocutor test tests/ --faults late,garbage,dead,slow --seed 7
      prolocutor test --people 1000 --seed 7 --assistant assistant.yaml
    """
    broken = FaultyAgents.read(faults, seed) if faults else None
    if people is not None:
        here = Path(FILE_NAME)
        assistant = assistant or (here if here.is_file() else None)
        talk = PeopleTest(people=people, seed=seed, faults=broken, logs=paths, speaker=speaker)
        outcomes = run(run_people(talk, assistant, click.echo))
    else:
        files = test_files(paths or [Path()])
        outcomes = run(_run(files, assistant, update, pace, live, broken, judge))
    if broken is not None:
        told = ", ".join(f"{number} {kind}" for kind, number in broken.told.items())
        click.echo(f"faults: {told}")
    if junit is not None:
        write_junit(junit, outcomes)
    return FAILED if any(outcome.status in ("failed", "error") for outcome in outcomes) else 0


async def _run(
    files: list[Path],
    assistant: Path | None,
    update: bool,
    pace: float,
    live: tuple[str, ...],
    faults: FaultyAgents | None,
    judge: str | None,
) -> list[TestOutcome]:
    options = TestOptions(
        assistant=assistant,
        update=update,
        pace=pace,
        live=live,
        faults=faults,
        judge=Judge(ChatPartner(judge)) if judge else None,
    )
    tests = TestRun(options, show)
    try:
        await tests.run(files)
    finally:
        if options.judge is not None:
            await options.judge.aclose()
    click.echo(summary_line(tests.outcomes))
    return tests.outcomes


def show(outcome: TestOutcome) -> None:
    """Print the lines of a test."""
    for line in list(table_lines([outcome]))[:-1]:
        click.echo(line)


class PeopleTest(msgspec.Struct, frozen=True, kw_only=True):
    """The settings: the number of `people`, `logs` with words, a chat model as `speaker`."""

    people: int
    seed: int
    faults: FaultyAgents | None = None
    logs: Sequence[Path] = ()
    speaker: str | None = None


async def run_people(
    test: PeopleTest, assistant: Path | None, tell: Callable[[str], None]
) -> list[TestOutcome]:
    """Let people talk to an assistant; report the findings, and return an outcome for each law."""
    settings = load_assistant(assistant)
    templates = collect_templates(settings.pipeline, test.logs)
    model = ChatPartner(test.speaker) if test.speaker else None
    people = [_person(number, templates, test.seed, model) for number in range(test.people)]
    began = monotonic()
    recorder = test.faults.make_recorder(None) if test.faults else None
    found: dict[str, list[str]] = {law: [] for law in LAWS}

    def told(dialog: BrokenDialog) -> None:
        lines = _lines(dialog)
        found[dialog.broken.law] += lines
        tell("\n".join(lines))

    async with live_assistant(settings, recorder) as talked_to:
        crowd = Crowd(talked_to, people, settings.deadline)
        await crowd.run(told)
    if model is not None:
        await model.aclose()
    failures = [
        why for person in people if isinstance(person, ModelPerson) for why in person.failures
    ]
    if failures:
        tell(f"the speaker gave no words {len(failures):,} times ({failures[0]})")
    seconds = monotonic() - began
    broken = sum(crowd.count.values())
    tell(
        f"{test.people:,} people, {crowd.turns:,} turns, {broken:,} of them break a law"
        f" ({', '.join(f'{law}: {number}' for law, number in crowd.count.items()) or 'none'});"
        f" seed {test.seed}, {seconds:.1f} s"
    )
    return [
        TestOutcome(
            file=settings.name,
            name=f"{law}: {LAWS[law]}",
            status="failed" if lines else "passed",
            turns=crowd.turns,
            seconds=seconds / len(LAWS),
            details=lines,
        )
        for law, lines in found.items()
    ]


def _person(number: int, templates: Templates, seed: int, model: ChatPartner | None) -> RulePerson:
    name = f"person-{number + 1}"
    if model is None:
        return RulePerson(name, templates, seed)
    return ModelPerson(name, templates, seed, model)


def _lines(dialog: BrokenDialog) -> list[str]:
    broken, last = dialog.broken, dialog.shortest[-1]
    return [
        f"{broken.law}: {dialog.person}, turn {broken.turn}; {LAWS[broken.law]}",
        *(f"  {line}" for line in said_lines(dialog.shortest)),
        f"  # {last.agent or 'the assistant'}: {last.error or last.reply!r:.300}",
    ]


class BrokenDialog(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog that breaks a law: its person, the law, and the shortest such dialog."""

    person: str
    broken: BrokenLaw
    said: list[SaidTurn]
    shortest: list[SaidTurn]


class Crowd:
    """Lets people talk to an assistant, `AT_ONCE` at a time, and collects broken laws.

    `found` has the first broken dialog for each law and agent; `count` counts by law.
    """

    def __init__(self, assistant: Assistant, people: Sequence[RulePerson], deadline: float) -> None:
        self.found: list[BrokenDialog] = []
        self.count: dict[str, int] = {}
        self.turns = 0
        self._assistant = assistant
        self._people = people
        self._deadline = deadline
        self._words = frozenset(person.word for person in people)

    async def run(self, told: Callable[[BrokenDialog], None]) -> None:
        """Let all people talk, and shrink the broken dialogs."""
        places = asyncio.Semaphore(AT_ONCE)
        seen: dict[tuple[str, str], tuple[RulePerson, list[SaidTurn], BrokenLaw]] = {}

        async def talk(person: RulePerson) -> list[SaidTurn]:
            async with places:
                return await self._talk(person)

        for person, said in zip(
            self._people, await asyncio.gather(*map(talk, self._people)), strict=True
        ):
            self.turns += len(said)
            for law in broken_laws(said, person.word, self._words, self._deadline):
                self.count[law.law] = self.count.get(law.law, 0) + 1
                seen.setdefault((law.law, said[law.turn - 1].agent), (person, said, law))
        for person, said, law in seen.values():
            shortest = await self._shortest(said[: law.turn], law.law, person.word)
            dialog = BrokenDialog(person=person.name, broken=law, said=said, shortest=shortest)
            self.found.append(dialog)
            told(dialog)

    async def _talk(self, person: RulePerson) -> list[SaidTurn]:
        said: list[SaidTurn] = []
        while len(said) < MOST_TURNS and (turn := person.next(said)) is not None:
            if isinstance(person, ModelPerson):
                turn = await person.rephrase(turn, said)
            said.append(await self._say(person.name, turn))
        return said

    async def _say(self, user: str, turn: SaidTurn) -> SaidTurn:
        began = monotonic()
        try:
            result = await self._assistant.turn(turn.says, user)
        except ProlocutorError as error:
            return msgspec.structs.replace(turn, error=f"{type(error).__name__}: {error}")
        messages = (result.state.get("attributes") or {}).get("messages")
        return msgspec.structs.replace(
            turn,
            reply=result.reply.text,
            agent=result.reply.active_skill,
            asks=result.ask,
            seconds=monotonic() - began,
            silent=not (result.reply.text.strip() or messages),
        )

    async def _shortest(self, said: Sequence[SaidTurn], law: str, word: str) -> list[SaidTurn]:
        """Return the shortest dialog that breaks the law, by leaving out turns, then words."""
        tries = MOST_TRIES
        best = await self._find_break([one.says for one in said], law, word)
        if best is None:
            return [*said]  # it took others at the same time, or chance
        changed = True
        while changed and tries > 0:
            changed = False
            texts = [one.says for one in best]
            for shorter in (*_fewer_turns(texts), *_fewer_words(texts)):
                tries -= 1
                if tries <= 0:
                    break
                if (found := await self._find_break(shorter, law, word)) is not None:
                    best, changed = found, True
                    break
        return best

    async def _find_break(self, texts: Sequence[str], law: str, word: str) -> list[SaidTurn] | None:
        """Say some texts as a new person; return the dialog up to the turn that breaks the law."""
        user, said = f"shrinking-{new_id()}", list[SaidTurn]()
        for text in texts:
            said.append(await self._say(user, SaidTurn(says=text)))
        for broken in broken_laws(said, word, self._words, self._deadline):
            if broken.law == law:
                return said[: broken.turn]
        return None


def _fewer_turns(texts: Sequence[str]) -> list[list[str]]:
    """Yield the texts without half of them, then without a quarter, and so on, down to one."""
    shorter, size = [], len(texts) // 2
    while size:
        shorter += [[*texts[:at], *texts[at + size :]] for at in range(0, len(texts), size)]
        size //= 2
    return [one for one in shorter if one and len(one) < len(texts)]


def _fewer_words(texts: Sequence[str]) -> list[list[str]]:
    """Yield the texts with one word left out."""
    shorter = []
    for place, text in enumerate(texts):
        words = _WORD.findall(text)
        if len(words) < 2:
            continue
        for at in range(len(words)):
            less = " ".join([*words[:at], *words[at + 1 :]])
            shorter.append([*texts[:place], less, *texts[place + 1 :]])
    return shorter
