"""`prolocutor test`: runs recorded and written conversations, and simulated people."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from prolocutor.assistant.runner import run
from prolocutor.cli.options import SEED_OPTION, assistant_option
from prolocutor.config.loading import FILE_NAME
from prolocutor.plugins.cassettes.faults import FaultyAgents
from prolocutor.plugins.cassettes.judging import ChatPartner, Judge
from prolocutor.plugins.cassettes.people_test import PeopleTest, run_people
from prolocutor.plugins.cassettes.reports import (
    TestOutcome,
    summary_line,
    table_lines,
    write_junit,
)
from prolocutor.plugins.cassettes.running import TestOptions, TestRun, test_files

FAILED: Final = 1


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
