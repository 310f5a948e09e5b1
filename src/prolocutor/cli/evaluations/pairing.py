"""`prolocutor evaluate pairing`: routers, rankers and budgets in one table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, Literal

import click
import msgspec

from prolocutor.assistant.running import run
from prolocutor.cli.evaluations.data import options_of
from prolocutor.cli.evaluations.tables import clean
from prolocutor.contracts.pairing import Card
from prolocutor.errors import BadInput, MissingExtra
from prolocutor.evaluation.pairing.data import load_pairing_data, only_agents
from prolocutor.evaluation.pairing.figures import Row
from prolocutor.evaluation.pairing.measuring import Measured, Plan, measure
from prolocutor.evaluation.pairing.page import best_of, page_of
from prolocutor.evaluation.pairing.results import curve_of, results_of
from prolocutor.pairing.catalog import RANKERS, ROUTERS, load_ranker, load_router, needs_of

BUDGETS: Final = ("top:1", "top:2", "top:3", "top:5", "sure:0.1", "sure:0.2", "sure:0.3")
_DOMAINS: Final = 60
_NONE: Final = "none"
_HEAD: Final = "prec@1  95 %          calls   cost     ECE  of all  AUROC      ms  difference"


@click.command(short_help="Measure routers, rankers and budgets on labelled questions.")
@click.option("--data", required=True, metavar="KIND:PATH", help="The questions; see below.")
@click.option("--agents", metavar="A,B", help="As if there were these agents alone.")
@click.option("--cards", metavar="FILE", type=click.Path(path_type=Path), help="JSON of cards.")
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
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    metavar="N",
    help="Into how many parts the questions are dealt.",
)
@click.option("--seed", type=int, default=42, show_default=True, help="Where chance begins.")
@click.option("--permuted", is_flag=True, help="Deal the labels out anew: what still wins, leaks.")
@click.option("--json", "json_file", metavar="FILE", help="Write all figures as JSON; - is stdout.")
@click.option("--report", metavar="FILE", help="Write one page to read, with drawings and errors.")
def pairing(
    data: str,
    agents: str | None,
    cards: Path | None,
    routers: Sequence[str],
    rankers: Sequence[str],
    budgets: Sequence[str],
    folds: int,
    seed: int,
    permuted: bool,
    json_file: str | None,
    report: str | None,
) -> None:
    """Measure who chooses the right agent: before any is asked, after all are, and with few calls.

    The measure is precision@1: the share of questions with a right agent for which a right one is
    chosen. Intervals are 95 %, bootstrap over groups of near duplicates, which no fold cuts.

    Data are a folder of BBAI, or questions as jsonl or csv: text, agents (a list, or a|b), and, for
    rankers, answers (an object, or fields answer_NAME); domain, if any.

    \b
    Examples:
      prolocutor evaluate pairing --data bbai:bbai-data --report pairing.html
      prolocutor evaluate pairing --data jsonl:questions.jsonl --router knn --ranker unsupervised
    """
    plan = Plan(
        routers=_names(routers, "router"),
        rankers=_names(rankers, "ranker"),
        budgets=_split(budgets) or list(BUDGETS),
        folds=folds,
        seed=seed,
        permuted=permuted,
    )
    questions = load_pairing_data(data, _cards(cards), **options_of(data, {}))
    if agents:
        questions = only_agents(questions, _split([agents]))
    found = run(measure(questions, plan, told=_tell))
    results = results_of(found)
    if json_file is not None:
        with click.open_file(json_file, "wb") as out:
            out.write(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")
    if json_file != "-":
        for line in _lines(found):
            click.echo(line)
    if report is not None:
        curve = run(curve_of(questions, plan, told=_tell))
        with click.open_file(report, "w", encoding="utf-8") as file:
            file.write(page_of(found, curve))
        click.echo(report, err=report == "-")


def _names(given: Sequence[str], which: Literal["router", "ranker"]) -> list[str]:
    """Give those that were named, else all that can be had here without an encoder."""
    if names := _split(given):
        for name in names:
            _load(name, which)
        return [] if names == [_NONE] else names
    found = []
    for name in ROUTERS if which == "router" else RANKERS:
        try:
            if needs_of(name, which) <= {"labels"}:
                _load(name, which)
                found.append(name)
        except MissingExtra as error:
            click.echo(f"left out: {error}", err=True)
    return found[::-1] if which == "router" else found


def _load(name: str, which: Literal["router", "ranker"]) -> None:
    if name != _NONE:
        load_router(name) if which == "router" else load_ranker(name)


def _split(given: Sequence[str]) -> list[str]:
    return [part.strip() for one in given for part in one.split(",") if part.strip()]


def _cards(file: Path | None) -> list[Card]:
    if file is None:
        return []
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[Card])
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}", field="cards") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{file}: {error}", field="cards") from None


def _tell(what: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{what} ...", err=True)


def _lines(found: Measured) -> Iterator[str]:
    yield (
        f"{found.n} agents, {len(found.questions):,} questions in {found.groups:,} groups of near "
        f"duplicates, {found.answerable:,} with a right agent, {found.learned:,} to learn from"
    )
    names, published = ([one.method for one in found.rows], [one.method for one in found.published])
    width = max(len(name) for name in (*names, *published))
    yield f"{'':<{width}}  {_HEAD}"
    for stage, rows in groupby(found.rows, lambda row: row.stage):
        yield stage
        for one in found.published:
            if one.stage == stage:
                yield f"{one.method:<{width}}  {100 * one.precision_at_1:6.2f}  (published)"
        for row in rows:
            yield f"{clean(row.method):<{width}}  {_figures(row)}"
    yield from _by_domain(found.rows)


def _figures(row: Row) -> str:
    line = f"{100 * row.precision_at_1:6.2f}  {100 * row.low:5.2f}-{100 * row.high:5.2f}"
    line += f"  {row.mean_calls:6.2f}  {_short(row.cost, '.3g'):>5}"
    line += f"  {_short(row.ece and 100 * row.ece, '.1f'):>6}"
    line += (
        f"  {_short(row.ece_all and 100 * row.ece_all, '.1f'):>6}  {_short(row.auroc, '.2f'):>5}"
    )
    line += f"  {row.ms:6.2f}"
    if row.difference is not None:
        mean, low, high = (100 * one for one in row.difference)
        line += f"  {mean:+.2f} [{low:+.2f}, {high:+.2f}] from {row.than}"
    return line


def _short(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _by_domain(rows: Sequence[Row]) -> Iterator[str]:
    for stage in ("route", "rank"):
        if (best := best_of(rows, stage)) is not None and 1 < len(best.domains) <= _DOMAINS:
            parts = (f"{clean(name)} {share:.2f}" for name, share in best.domains.items())
            yield f"{best.method} by domain: {', '.join(parts)}"
