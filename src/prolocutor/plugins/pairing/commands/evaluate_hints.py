"""`prolocutor evaluate hints`: what a router learns from what simulated people do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import click

from prolocutor.assistant.runner import run
from prolocutor.cli.output import clean, write_json
from prolocutor.cli.progress import BegunSteps
from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.evaluation_data import options_of
from prolocutor.plugins.pairing.measuring.answer_record import cards_of_data
from prolocutor.plugins.pairing.measuring.hint_simulation import (
    HintPlan,
    HintRow,
    arms_of,
    simulate,
)
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, load_pairing_data
from prolocutor.plugins.pairing.measuring.simulated_person import SimulatedPerson

_SHARE: Final = click.FloatRange(0, 1)
_USUAL: Final = SimulatedPerson()


@click.command(short_help="Simulate what weak labels are worth.")
@click.option(
    "--data",
    required=True,
    metavar="KIND:PATH",
    help="Labelled questions, with a part to learn from.",
)
@click.option(
    "--router", default="knn", show_default=True, metavar="R", help="One that learns online."
)
@click.option(
    "--known", default="100,600", show_default=True, metavar="N,N", help="Labels at the start."
)
@click.option(
    "--turns",
    type=click.IntRange(1),
    default=1500,
    show_default=True,
    metavar="N",
    help="Questions that people ask.",
)
@click.option(
    "--weights", default="", metavar="W,W", help="Other weights to try, of all kinds at once."
)
@click.option(
    "--thumbs", type=_SHARE, default=0.05, show_default=True, help="Turns that get a thumb."
)
@click.option(
    "--reject",
    type=_SHARE,
    default=_USUAL.reject,
    show_default=True,
    help="Wrong answers that are rejected.",
)
@click.option(
    "--repeat",
    type=_SHARE,
    default=_USUAL.repeat,
    show_default=True,
    help="Wrong answers after which people ask again.",
)
@click.option(
    "--thank",
    type=_SHARE,
    default=_USUAL.thank,
    show_default=True,
    help="Right answers that people thank for.",
)
@click.option(
    "--mistaken",
    type=_SHARE,
    default=_USUAL.mistaken,
    show_default=True,
    help="Turns in which people do the opposite.",
)
@click.option(
    "--seeds", default="0,1,2", show_default=True, metavar="N,N", help="Where chance begins."
)
@click.option("--json", "json_file", metavar="FILE", help="Write all figures as JSON; - is stdout.")
def hints(
    data: str,
    router: str,
    known: str,
    turns: int,
    weights: str,
    thumbs: float,
    reject: float,
    repeat: float,
    thank: float,
    mistaken: float,
    seeds: str,
    json_file: str | None,
) -> None:
    """Simulate people who ask again, say no, thank or do nothing, and measure what that teaches.

    The router's first choice answers each question. What people say goes through the rules that
    find hints in dialogs, and the router learns from it at once. Then it is measured on the
    questions of the test, beside itself before, and with thumbs.

    \b
    Examples:
      prolocutor evaluate hints --data bbai:bbai-data
      prolocutor evaluate hints --data bbai:bbai-data --router ensemble --known 600 --mistaken 0.1
    """
    questions = load_pairing_data(data, cards_of_data(data), **options_of(data, {}))
    person = SimulatedPerson(reject=reject, repeat=repeat, thank=thank, mistaken=mistaken)
    if reject + repeat > 1:
        raise click.UsageError("--reject and --repeat together are more than all wrong answers")
    arms = arms_of(_numbers(weights, "weights", 0.25), thumbs)
    plans = [
        HintPlan(
            arms=arms,
            router=router,
            known=int(number),
            turns=turns,
            seeds=[int(seed) for seed in _numbers(seeds, "seeds")],
            person=person,
        )
        for number in _numbers(known, "known")
    ]
    rows = run(_simulated(questions, plans))
    if json_file is not None:
        write_json(json_file, rows)
    if json_file != "-":
        for line in _lines(rows):
            click.echo(line)


async def _simulated(questions: PairingData, plans: Sequence[HintPlan]) -> list[HintRow]:
    said = BegunSteps()
    return [row for plan in plans for row in await simulate(questions, plan, said)]


def _numbers(given: str, field: str, most: float = 1e9) -> list[float]:
    try:
        found = [float(one) for one in given.split(",") if one.strip()]
    except ValueError:
        found = [-1.0]
    if any(not 0 <= one <= most for one in found):
        raise BadInput(f"{given!r} are no numbers from 0 to {most:g}", field=field)
    return found


def _lines(rows: Sequence[HintRow]) -> Iterator[str]:
    width = max(len(row.arm) for row in rows)
    before: tuple[int, int] | None = None
    for row in rows:
        if before != (row.known, row.turns):
            before = row.known, row.turns
            yield f"{row.router}, {row.known:,} labels, then {row.turns:,} turns"
            yield f"  {'':<{width}}  precision@1      gain, 95 %            hints  truthful"
        mean, low, high = (100 * one for one in row.difference)
        true = "" if row.truthful is None else f"{100 * row.truthful:8.0f} %"
        yield (
            f"  {clean(row.arm):<{width}}  {100 * row.precision_at_1:10.2f}  {mean:+6.2f}"
            f"  [{low:+5.2f}, {high:+5.2f}]  {sum(row.hints.values()):7,}{true}"
        )
