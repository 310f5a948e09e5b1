"""`prolocutor evaluate pairing`: routers, rankers and budgets in one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from prolocutor.assistant.runner import run
from prolocutor.cli.options import SEED_OPTION, assistant_option
from prolocutor.cli.output import write_json
from prolocutor.contracts.pairing import Role
from prolocutor.errors import MissingExtra
from prolocutor.plugins.pairing.commands.command_lines import (
    ENCODER_OPTION,
    SOON,
    StepLines,
    folds_option,
    known_cards,
    pairing_lines,
)
from prolocutor.plugins.pairing.measuring.measurement import (
    Measurement,
    MeasurementPlan,
    mean_of_draws,
    measure,
)
from prolocutor.plugins.pairing.measuring.model_locations import ModelLocations, open_models
from prolocutor.plugins.pairing.measuring.pairing_data import (
    PairingData,
    few_shots,
    load_pairing_data,
    only_agents,
    read_cards,
    some_agents,
)
from prolocutor.plugins.pairing.method_catalog import load_fit, method_needs, methods

BUDGETS: Final = ("top:1", "top:2", "top:3", "top:5", "sure:0.1", "sure:0.2", "sure:0.3")
_NONE: Final = "none"


@click.command(short_help="Measure routers, rankers and budgets on labelled questions.")
@click.option("--data", required=True, metavar="KIND:PATH", help="The questions; see below.")
@click.option("--agents", metavar="A,B", help="These agents alone; a number: so many, by chance.")
@click.option(
    "--shots",
    type=click.IntRange(min=0),
    metavar="N",
    help="Learn from N questions of each agent, drawn by chance; 0: from cards alone.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How often shots and agents are drawn; figures are means.",
)
@click.option(
    "--cards",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="JSON of cards.  [default: cards.json in the folder of the data]",
)
@assistant_option("An assistant's file: its skills are the agents, with their cards.")
@click.option(
    "--router",
    "routers",
    multiple=True,
    metavar="R",
    help="Routers, the first one gives the priors.  [default: all]",
)
@click.option(
    "--ranker",
    "rankers",
    multiple=True,
    metavar="R",
    help="Rankers, the last one is given budgets.  [default: all]",
)
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    metavar="B",
    help=f"all, top:3, sure:0.3, gain:0.02.  [default: {' '.join(BUDGETS)}]",
)
@folds_option("Into how many parts the questions are dealt.")
@ENCODER_OPTION
@click.option("--chat", metavar="URL", help="For llm: a chat endpoint, http://host/v1?model=NAME.")
@SEED_OPTION
@click.option("--permuted", is_flag=True, help="Assign labels at random: what still wins, leaks.")
@click.option("--json", "json_file", metavar="FILE", help="Write all figures as JSON; - is stdout.")
def pairing(
    data: str,
    agents: str | None,
    shots: int | None,
    draws: int,
    cards: Path | None,
    assistant: Path | None,
    routers: Sequence[str],
    rankers: Sequence[str],
    budgets: Sequence[str],
    folds: int,
    encoder: str | None,
    chat: str | None,
    seed: int,
    permuted: bool,
    json_file: str | None,
) -> None:
    """Measure how often the right agent is chosen: before any call, after all calls, and with few.

    The measure is precision@1: the share of questions with a right agent for which a right one is
    chosen. Intervals are 95 %, bootstrap over groups of near duplicates, which no fold cuts.

    Data are a folder of BBAI, or questions as jsonl or csv: text, agents (a list, or a|b), and, for
    rankers, answers (an object, or fields answer_NAME); domain, if any.

    \b
    Examples:
      prolocutor evaluate pairing --data bbai:bbai-data
      prolocutor evaluate pairing --data jsonl:asked.jsonl --router learned --ranker unsupervised
      prolocutor evaluate pairing --data csv:questions.csv --assistant assistant.yaml --shots 5
    """
    if cards is not None and assistant is not None:
        raise click.UsageError("Say either --cards or --assistant.")
    locations = ModelLocations(encoder=encoder, chat=chat)
    plan = MeasurementPlan(
        routers=_names(routers, "router", locations),
        rankers=_names(rankers, "ranker", locations),
        budgets=_split(budgets) or list(BUDGETS),
        folds=folds,
        seed=seed,
        permuted=permuted,
    )
    known = known_cards(data, assistant) if cards is None else read_cards(cards)
    questions = load_pairing_data(data, known)
    if agents and not agents.isdecimal():
        questions = only_agents(questions, _split([agents]))
    found = mean_of_draws(
        [
            run(_run_measurement(_drawn(questions, agents, shots, seed + n), plan, locations))
            for n in range(draws)
        ]
    )
    if json_file is not None:
        write_json(json_file, found.results)
    if json_file != "-":
        for line in pairing_lines(found):
            click.echo(line)


def _drawn(questions: PairingData, agents: str | None, shots: int | None, seed: int) -> PairingData:
    """Return the questions of one draw."""
    if agents and agents.isdecimal():
        questions = some_agents(questions, int(agents), seed)
    return questions if shots is None else few_shots(questions, shots, seed)


async def _run_measurement(
    questions: PairingData,
    plan: MeasurementPlan,
    locations: ModelLocations,
) -> Measurement:
    lines = StepLines()
    async with open_models(locations, on_texts=StepLines(SOON).note_texts) as models:
        return await measure(
            questions, plan, models=models, on_step=lambda what: lines(f"{what} ...")
        )


def _names(given: Sequence[str], which: Role, locations: ModelLocations) -> list[str]:
    """Return the named methods, by default all methods allowed by the options.

    Omitted methods are printed with the reason.
    """
    if names := _split(given):
        for name in names:
            if name == _NONE:
                continue
            load_fit(name, which)
            if option := _missing(name, which, locations):
                raise click.UsageError(f"the {which} {name} needs {option}")
        return [] if names == [_NONE] else names
    found = []
    for name in methods(which):
        try:
            if option := _missing(name, which, locations):
                click.echo(f"left out: the {which} {name} needs {option}", err=True)
                continue
            load_fit(name, which)
            found.append(name)
        except MissingExtra as error:
            click.echo(f"left out: {error}", err=True)
    learns_last = which == "ranker"  # the first router gives the priors, the last ranker spends
    return sorted(found, key=lambda one: _learns(one, which) is learns_last)


def _learns(name: str, which: Role) -> bool:
    return "labels" in method_needs(name, which)


def _missing(name: str, which: Role, locations: ModelLocations) -> str | None:
    """Return the option required by a method."""
    missing = method_needs(name, which) - locations.needs
    return f"--{min(missing)}" if missing else None


def _split(given: Sequence[str]) -> list[str]:
    return [part.strip() for one in given for part in one.split(",") if part.strip()]
