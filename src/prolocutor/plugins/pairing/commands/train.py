"""`prolocutor train`: a router or a ranker is trained on labels and written to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from prolocutor.assistant.runner import run
from prolocutor.cli.options import SEED_OPTION, SizeParam, assistant_option
from prolocutor.cli.output import clean, progress_bar
from prolocutor.contracts.pairing import Card, Role
from prolocutor.plugins.pairing.commands.command_lines import (
    ENCODER_OPTION,
    SOON,
    StepLines,
    TrainingProgress,
    folds_option,
    known_cards,
)
from prolocutor.plugins.pairing.measuring.method_rows import MethodRow
from prolocutor.plugins.pairing.measuring.model_locations import ModelLocations, open_models
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, load_pairing_data
from prolocutor.plugins.pairing.measuring.training import (
    TrainingPlan,
    TrainingResult,
    count_steps,
)
from prolocutor.plugins.pairing.measuring.training import train as train_model
from prolocutor.plugins.pairing.method_catalog import find_method

_ROUTER: Final = "learned"
_RANKER: Final = "learned"
_MOST_NAMED: Final = 5


@click.command(short_help="Train a router or a ranker on labels.")
@click.argument("role", type=click.Choice(["router", "ranker"]), metavar="router|ranker")
@click.option("--data", required=True, metavar="KIND:PATH", help="The labels; see below.")
@click.option(
    "--out", required=True, metavar="FOLDER", type=click.Path(path_type=Path), help="The model."
)
@click.option(
    "--method",
    metavar="NAME",
    help=f"How.  [default: {_ROUTER} for a router, {_RANKER} for a ranker]",
)
@click.option(
    "--prior",
    metavar="ROUTER",
    default=_ROUTER,
    show_default=True,
    help="ranker: the router whose probabilities it learns to weigh.",
)
@assistant_option("Whose skills' cards are known.")
@folds_option("Into how many parts the questions are dealt to measure it.")
@ENCODER_OPTION
@SEED_OPTION
@click.option(
    "--memory",
    type=SizeParam(),
    metavar="SIZE",
    help="ranker: learn in 500MB, 2GB; from a part of the questions, if all do not fit.",
)
def train(
    role: Role,
    data: str,
    out: Path,
    method: str | None,
    prior: str,
    assistant: Path | None,
    folds: int,
    encoder: str | None,
    seed: int,
    memory: int | None,
) -> None:
    """Train a router or a ranker on labels, and report how well it does.

    It is measured by folds on the questions that it learns from, beside the method without labels
    and the best single agent, and the report says if training does not help yet. The model is a
    folder without code, with a card that says what it was made from; an existing one is replaced.

    Data are questions as jsonl or csv: text, agents (a list, or a|b), and, for a ranker, answers
    (an object, or fields answer_NAME); a folder of BBAI; or a store of dialogs, whose ratings are
    the labels (`store:` is your own): thumbs up, the selected skill is right, with half the
    weight of a label; thumbs down, it is wrong, with a quarter.

    \b
    Examples:
      prolocutor train router --data csv:questions.csv --assistant assistant.yaml --out router
      prolocutor train ranker --data store: --out ranker
      prolocutor train ranker --data store: --out ranker --encoder encoders/minilm
    """
    if role == "router" and memory is not None:
        raise click.UsageError("--memory is for a ranker")
    method = method or (_ROUTER if role == "router" else _RANKER)
    cards = known_cards(data, assistant)
    questions = load_pairing_data(data, cards)
    if assistant is not None:
        _name_strangers(questions.agents, cards, assistant)
    locations = ModelLocations(encoder=encoder)
    _check_models(role, method, locations)
    plan = TrainingPlan(
        role=role,
        method=method,
        prior=prior,
        folds=folds,
        seed=seed,
        memory=memory,
    )
    steps = count_steps(questions, plan)
    with progress_bar(lambda: steps, "training") as show:
        trained = run(_run_training(questions, plan, out, locations, TrainingProgress(show)))
        show(steps, [])
    for line in result_lines(trained):
        click.echo(line)
    click.echo(f"{trained.model} is in {out}")


def _name_strangers(agents: Sequence[str], cards: Sequence[Card], assistant: Path) -> None:
    """Print the labels' agents unknown to the assistant: a name may be misspelt."""
    known = {card.name for card in cards}
    if strangers := [clean(agent) for agent in agents if agent not in known]:
        named = ", ".join(strangers[:_MOST_NAMED]) + (", ..." if strangers[_MOST_NAMED:] else "")
        click.echo(f"labels name agents that {assistant} has no skill for: {named}", err=True)


async def _run_training(
    questions: PairingData,
    plan: TrainingPlan,
    out: Path,
    locations: ModelLocations,
    progress: TrainingProgress,
) -> TrainingResult:
    async with open_models(locations, on_texts=StepLines(SOON).note_texts) as models:
        plan = msgspec.structs.replace(plan, models=models)
        return await train_model(
            questions,
            plan,
            out,
            on_step=progress.step,
            on_note=lambda what: click.echo(what, err=True),
            on_fold=progress.fold,
        )


def _check_models(role: Role, method: str, locations: ModelLocations) -> None:
    """Raise `UsageError` for a missing encoder, or an encoder for a method without one."""
    named = find_method(method, role)
    needs = named.needs
    if locations.encoder is None and "encoder" in needs:
        raise click.UsageError(f"the {role} {method} needs --encoder PATH|URL")
    if locations.encoder is not None and "encoder" not in needs | named.uses:
        raise click.UsageError(f"the {role} {method} does not learn with an encoder")


def result_lines(trained: TrainingResult) -> Iterator[str]:
    """Yield lines on the learned model and its quality."""
    yield (
        f"{trained.agents} agents, {trained.questions:,} questions in {trained.groups:,} groups of "
        f"near duplicates, {trained.labelled:,} with a right agent"
    )
    if trained.rows:
        yield f"precision@1 by {trained.folds} folds, with 95 % interval"
        yield from _table(trained.rows)
    yield _verdict(trained)
    if trained.tested:
        yield "precision@1 on the part to test, from which it did not learn"
        yield from _table(trained.tested)


def _table(rows: list[MethodRow]) -> Iterator[str]:
    width = max(len(one.method) for one in rows)
    for one in rows:
        share, low, high = (100 * each for each in (one.precision_at_1, one.low, one.high))
        yield f"  {clean(one.method):<{width}}  {share:6.2f}  [{low:.2f}, {high:.2f}]"


def _verdict(trained: TrainingResult) -> str:
    if trained.unmeasured is not None:
        return f"There are too few labels to tell whether training helps: {trained.unmeasured}."
    if trained.gain is None or trained.against is None:
        return "There is nothing to compare it with."
    mean, low, high = (100 * one for one in trained.gain)
    figures = f"{mean:+.2f} points [{low:+.2f}, {high:+.2f}] from {trained.against}"
    if trained.helps:
        return f"Training helps: {figures}."
    if high < 0:
        return f"Training does harm: {figures}. Use {trained.against}, and label more questions."
    return (
        f"Training does not surely help: {figures}, by {trained.labelled:,} labelled questions. "
        f"Label more, or stay with {trained.against}."
    )
