"""`prolocutor evaluate newcomers`: how soon a new agent brings what it brings with labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from prolocutor.assistant.runner import run
from prolocutor.cli.options import encoder_of, model_options
from prolocutor.cli.output import clean, write_json
from prolocutor.cli.progress import BegunSteps, EncodingProgress
from prolocutor.errors import NotFound
from prolocutor.names import suggest
from prolocutor.plugins.evaluation.evaluation_data import options_of
from prolocutor.plugins.pairing.measuring.answer_record import cards_of_data
from prolocutor.plugins.pairing.measuring.model_locations import ModelLocations, open_models
from prolocutor.plugins.pairing.measuring.newcomer_results import (
    TURNS,
    NewcomerPlan,
    NewcomerResults,
)
from prolocutor.plugins.pairing.measuring.newcomers import measure_newcomers
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, load_pairing_data
from prolocutor.plugins.pairing.method_catalog import load_ranker, load_router
from prolocutor.plugins.pairing.question_agent.newcomers import NewcomerSettings

_NONE: Final = "none"
_USUAL: Final = NewcomerSettings()
_HEAD: Final = "turns  share of the gain, %    precision@1, %  calls  asked  rated"


@click.command(short_help="Measure how soon a new agent is used as well as a known one.")
@click.option("--data", required=True, metavar="KIND:PATH", help="The questions, with labels.")
@click.option(
    "--cards",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="JSON of cards.  [default: cards.json in the folder of the data]",
)
@click.option("--agents", metavar="A,B", help="Leave out these alone, in turn.  [default: all]")
@click.option("--router", default="ensemble", show_default=True, metavar="R", help="The router.")
@click.option(
    "--ranker",
    default="ensemble",
    show_default=True,
    metavar="R",
    help="The ranker; none: the likeliest agent alone is asked.",
)
@click.option(
    "--budget",
    default="sure:0.3",
    show_default=True,
    metavar="B",
    help="all, top:3, sure:0.3, gain:0.02.",
)
@click.option(
    "--turns",
    default=",".join(map(str, TURNS)),
    show_default=True,
    metavar="N,M",
    help="After how many turns the answers are counted.",
)
@click.option(
    "--seeds", default="0,1,2", show_default=True, metavar="A,B", help="Where chance begins."
)
@click.option(
    "--ask",
    type=click.FloatRange(0, 1),
    default=_USUAL.ask,
    show_default=True,
    help="In what share of the turns a new agent is asked in addition.",
)
@click.option(
    "--tried",
    type=click.IntRange(0),
    default=_USUAL.turns,
    show_default=True,
    metavar="N",
    help="In how many turns it is tried out.",
)
@model_options
@click.option("--json", "json_file", metavar="FILE", help="Write all figures as JSON; - is stdout.")
def newcomers(
    data: str,
    cards: Path | None,
    agents: str | None,
    router: str,
    ranker: str,
    budget: str,
    turns: str,
    seeds: str,
    ask: float,
    tried: int,
    encoder: str | None,
    encoder_url: str | None,
    pair_scorer: str | None,
    chat: str | None,
    json_file: str | None,
) -> int:
    """Leave each agent out in turn, let it join, and count what it brings.

    Router and ranker are trained without any label of the agent. Then it joins with its card alone,
    and questions come in at random. Router, budget and ranker choose, and a person rates the answer
    that was given: up, if the data say that it is right, else down. Nothing else is rated.

    The gain of an agent is how many more questions are answered right with all of its labels than
    without the agent. The share of it is of the gains of all agents together, on questions that
    were kept apart. Intervals are 95 %.

    \b
    Examples:
      prolocutor evaluate newcomers --data bbai:bbai-data
      prolocutor evaluate newcomers --data jsonl:made --router linear --ranker none --agents tea
    """
    load_router(router)
    if ranker != _NONE:
        load_ranker(ranker)
    place = encoder_of(encoder, encoder_url)
    locations = ModelLocations(encoder=place, pair_scorer=pair_scorer, chat=chat)
    questions = load_pairing_data(data, cards_of_data(data, cards), **options_of(data, {}))
    chosen = [part.strip() for part in (agents or "").split(",") if part.strip()]
    for name in chosen:
        if name not in questions.agents:
            what = f"there is no agent {name!r}; {suggest(name, questions.agents)}"
            raise NotFound(what, field="agents")
    plan = NewcomerPlan(
        router=router,
        ranker=None if ranker == _NONE else ranker,
        budget=budget,
        turns=_numbers(turns, "--turns"),
        seeds=_numbers(seeds, "--seeds"),
        agents=chosen,
        newcomers=NewcomerSettings(ask=ask, turns=tried),
    )
    found = run(_measured(questions, plan, locations))
    if json_file is not None:
        write_json(json_file, found)
    if json_file != "-":
        for line in _lines(found):
            click.echo(line)
    return 0


async def _measured(
    questions: PairingData, plan: NewcomerPlan, locations: ModelLocations
) -> NewcomerResults:
    async with open_models(locations, on_texts=EncodingProgress()) as models:
        return await measure_newcomers(questions, plan, models=models, on_step=BegunSteps())


def _lines(found: NewcomerResults) -> Iterator[str]:
    """Return the table: a line for each number of turns, then one for each agent."""
    gain = sum(one.whole for one in found.agents)
    yield (
        f"{len(found.agents)} agents left out in turn, {len(found.plan.seeds)} seeds, "
        f"{found.held_out:,.0f} questions kept apart, a gain of {gain:,.0f} right answers"
    )
    yield _HEAD
    yield f"{'none':>5}  {'':24}  {100 * found.without:14.1f}"
    for one in found.points:
        share = f"{100 * one.share:6.1f}  [{100 * one.low:5.1f}, {100 * one.high:5.1f}]"
        yield (
            f"{one.turns:5}  {share:<24}  {100 * one.precision_at_1:14.1f}  {one.calls:5.2f}"
            f"  {one.asked:5.1f}  {one.rated:5.1f}"
        )
    yield f"{'all':>5}  {'':24}  {100 * found.with_labels:14.1f}  {found.calls_with_labels:5.2f}"
    yield "none: without the agent; all: with all of its labels"
    width = max(len(clean(one.agent)) for one in found.agents)
    reached = [one.turns for one in found.points]
    heads = "".join(f"{turns:8}" for turns in reached)
    yield f"{'brings':<{width}}{heads}     all"
    for agent in sorted(found.agents, key=lambda one: -one.whole):
        counts = "".join(f"{agent.by_turns[turns]:8.0f}" for turns in reached)
        yield f"{clean(agent.agent):<{width}}{counts}{agent.whole:8.0f}"


def _numbers(text: str, option: str) -> Sequence[int]:
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 0:
        raise click.UsageError(f"{option} wants whole numbers with commas between, not {text!r}")
    return numbers
