"""The test by simulated people: its settings, its run, and its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

import msgspec

from prolocutor.config.loading import load_assistant
from prolocutor.plugins.cassettes.crowd import BrokenDialog, Crowd
from prolocutor.plugins.cassettes.faults import FaultyAgents
from prolocutor.plugins.cassettes.judging import ChatPartner
from prolocutor.plugins.cassettes.people import (
    LAWS,
    ModelPerson,
    RulePerson,
    Templates,
    collect_templates,
    said_lines,
)
from prolocutor.plugins.cassettes.reports import TestOutcome
from prolocutor.plugins.cassettes.running import live_assistant


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

    def told(one: BrokenDialog) -> None:
        lines = _lines(one)
        found[one.broken.law] += lines
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


def _lines(found: BrokenDialog) -> list[str]:
    broken, last = found.broken, found.shortest[-1]
    return [
        f"{broken.law}: {found.person}, turn {broken.turn}; {LAWS[broken.law]}",
        *(f"  {line}" for line in said_lines(found.shortest)),
        f"  # {last.agent or 'the assistant'}: {last.error or last.reply!r:.300}",
    ]
