"""`prolocutor evaluate rescore, compare, report`: commands on existing runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from prolocutor.cli.options import json_option
from prolocutor.cli.output import clean, figure, number_of, write_json
from prolocutor.plugins.evaluation.rescoring import rescore as rescore_run
from prolocutor.plugins.evaluation.run_comparison import (
    HALF,
    FlippedExample,
    MetricDifference,
    RunComparison,
)
from prolocutor.plugins.evaluation.run_comparison import compare as compare_rows
from prolocutor.plugins.evaluation.run_folder import load_rows, load_run, rows_in_order
from prolocutor.plugins.evaluation.run_page import render_page, report_lines
from prolocutor.plugins.evaluation.run_report import Aggregate, make_report, run_aggregate

PAGE = "report.html"

WHOLE_OPTION: Final = click.option(
    "--all", "whole", is_flag=True, help="Show every metric, not only those that most readers want."
)


@click.command(short_help="Score a run again, without asking.")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--metrics", metavar="NAMES", help="What is measured.  [default: as before]")
@click.option(
    "--aggregate",
    type=click.Choice(["macro", "micro"]),
    help="Over several data sets: the mean of theirs, or of all examples.  [default: as before]",
)
@WHOLE_OPTION
def rescore(run: Path, metrics: str | None, aggregate: Aggregate | None, whole: bool) -> None:
    """Score a run's rows again by other or changed metrics, without asking the agent again.

    \b
    Examples:
      prolocutor evaluate rescore runs/a --metrics default,distinct
      prolocutor evaluate rescore runs/a --metrics f1,my_metrics:politeness
    """
    for line in report_lines(
        rescore_run(run, metrics, aggregate), whole=whole, asked=metrics or ""
    ):
        click.echo(line)


@click.command(short_help="Set two runs side by side.")
@click.argument("first", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("second", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--by", metavar="METRIC", help="By what examples flip.  [default: accuracy]")
@click.option(
    "--flips",
    "number",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many of the examples that flipped are shown.",
)
@json_option("Write all of it as JSON instead, to FILE or to stdout.")
def compare(first: Path, second: Path, by: str | None, number: int, json_file: str | None) -> None:
    """Compare two runs over the same examples, pair by pair.

    The interval of the mean difference (95 %, bootstrap over episodes) contains 0 where the runs
    may be equally good. A star marks the other intervals.

    \b
    Examples:
      prolocutor evaluate compare runs/before runs/after
      prolocutor evaluate compare runs/before runs/after --by f1 --flips 100
    """
    found = compare_rows(load_rows(first), load_rows(second), by)
    if json_file is not None:
        write_json(json_file, found)
        return
    for line in _lines(found, number):
        click.echo(line)


@click.command(short_help="Write a run as one page to read.")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="FILE",
    help=f"Where to; - is stdout.  [default: {PAGE} in the run's folder]",
)
def report(run: Path, out: str | None) -> None:
    """Write the figures of a run as one plain HTML page.

    The page needs no network and no other file. The console shows the run's examples too.

    \b
    Example:
      prolocutor evaluate report runs/a --out a.html
    """
    kept = load_run(run)
    found = make_report(rows_in_order(run), kept.metrics, run_aggregate(kept))
    target = out or str(run / PAGE)
    with click.open_file(target, "w", encoding="utf-8") as file:
        file.write(render_page(kept, found))
    if target != "-":
        click.echo(target)


def _lines(found: RunComparison, number: int) -> Iterator[str]:
    yield f"{number_of(found.pairs, 'example')} in both runs"
    for count, which in ((found.only_first, "first"), (found.only_second, "second")):
        if count:
            yield f"{count:,} in the {which} run only, left out"
    yield from _table(found.metrics)
    for group, rows in found.groups.items():
        yield ""
        most = max(one.difference.count for one in rows)
        yield f"{clean(group)}: {number_of(most, 'example')}"
        yield from _table(rows)
    won = sum(flip.second_score >= HALF for flip in found.flips)
    lost = len(found.flips) - won
    yield ""
    yield f"flipped by {found.flipped_by}: {won:,} won, {lost:,} lost"
    for flip in found.flips[:number]:
        yield from _flip(flip)
    if len(found.flips) > number:
        yield f"... and {len(found.flips) - number:,} more (--flips N, --json)"


def _table(rows: Sequence[MetricDifference]) -> Iterator[str]:
    width = max((len(one.metric) for one in rows), default=0)
    for one in rows:
        change = one.difference
        line = f"{one.metric:<{width}}  {figure(one.first):>8} -> {figure(one.second):>8}"
        line += f"  {change.value:+.4f}"
        if change.low is not None and change.high is not None:
            star = " *" if change.low > 0 or change.high < 0 else ""
            line += f"  [{change.low:+.4f}, {change.high:+.4f}]{star}"
        yield f"{line}  better {one.better:,}, worse {one.worse:,}"


def _flip(flip: FlippedExample) -> Iterator[str]:
    sign = "+" if flip.second_score >= HALF else "-"
    again = f" (time {flip.repeat + 1})" if flip.repeat else ""
    yield f"{sign} {flip.n}{again}: {clean(flip.text)}  [{clean(' | '.join(flip.labels))}]"
    yield f"    first   {clean(flip.first_by)}: {clean(flip.first)}"
    yield f"    second  {clean(flip.second_by)}: {clean(flip.second)}"
