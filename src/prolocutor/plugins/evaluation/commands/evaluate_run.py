"""`prolocutor evaluate run`, `rescore`, `compare` and `report`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from prolocutor.cli.options import (
    SEED_OPTION,
    BoundParam,
    SettingParam,
    concurrency_option,
    json_option,
)
from prolocutor.cli.output import Show, clean, count_text, figure, progress_bar, write_json
from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.harness import EvaluationSettings, PreparedEvaluation
from prolocutor.plugins.evaluation.parlai.metrics.names import ALL_METRICS
from prolocutor.plugins.evaluation.run_comparison import (
    HALF,
    FlippedExample,
    MetricDifference,
    RunComparison,
)
from prolocutor.plugins.evaluation.run_comparison import compare as compare_rows
from prolocutor.plugins.evaluation.run_folder import load_rows, load_run, rows_in_order
from prolocutor.plugins.evaluation.run_page import render_page, report_lines
from prolocutor.plugins.evaluation.run_report import (
    FIGURES,
    Aggregate,
    RunReport,
    make_report,
    run_aggregate,
)
from prolocutor.plugins.evaluation.run_report import rescore as rescore_run
from prolocutor.plugins.evaluation.scoring import possible_scores
from prolocutor.plugins.evaluation.targets import may_report_metrics

PAGE = "report.html"

WHOLE_OPTION: Final = click.option(
    "--all", "whole", is_flag=True, help="Show every metric, not only those that most readers want."
)

_PAUSE: Final = 0.1
_SCORES: Final = 3
_LEFT_OUT: Final = ("precision", "recall")

UNDER: Final = 1
INTERRUPTED: Final = 130


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
    yield f"{count_text(found.pairs, 'example')} in both runs"
    for count, which in ((found.only_first, "first"), (found.only_second, "second")):
        if count:
            yield f"{count:,} in the {which} run only, left out"
    yield from _table(found.metrics)
    for group, rows in found.groups.items():
        yield ""
        most = max(one.difference.count for one in rows)
        yield f"{clean(group)}: {count_text(most, 'example')}"
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


class ScoreProgress:
    """Counts rows and their mean scores, and shows them ten times a second at most."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._done = self._failed = 0
        self._sums: dict[str, tuple[float, int]] = {}
        self._shown = 0.0

    def __call__(self, count: int, rows: list[ExampleRow]) -> None:
        """Take note of the rows of an episode."""
        self._done += count
        for row in rows:
            self._failed += row.error is not None
            for name, score in row.scores.items():
                total, number = self._sums.get(name, (0.0, 0))
                self._sums[name] = (total + (score or 0.0), number + 1)
        if time.monotonic() - self._shown >= _PAUSE:
            self.show()

    def show(self) -> None:
        """Show the counts and means so far."""
        names = [name for name in self._sums if name not in _LEFT_OUT][:_SCORES]
        means = [f"{name} {self._sums[name][0] / self._sums[name][1]:.3f}" for name in names]
        if self._failed:
            means.insert(0, f"{self._failed:,} failed")
        self._show(self._done, means)
        self._shown = time.monotonic()


@click.command(short_help="Measure an assistant or an agent on data.")
@click.argument("subject", metavar="ASSISTANT|AGENT")
@click.option(
    "--data",
    "specs",
    metavar="KIND:PATH",
    required=True,
    multiple=True,
    help="What is asked. Several are asked one after the other, and reported as ParlAI does.",
)
@click.option(
    "--datatype",
    default="valid",
    show_default=True,
    help="Which part of the data, as ParlAI names them: train:evalmode, valid, test.",
)
@click.option("--mutators", metavar="NAMES", help="Changes of the data, with + between them.")
@click.option(
    "--candidates",
    type=click.Choice(["labels"]),
    help="Let all labels of the data be chosen from in every example.",
)
@click.option(
    "--data-opt",
    "data_options",
    type=SettingParam(),
    multiple=True,
    help="An option of the kind of data. May be given more than once.",
)
@click.option(
    "--metrics",
    default="default",
    show_default=True,
    metavar="NAMES",
    help="What is measured: names with commas, default, bleu, distinct, all, or module:function.",
)
@click.option(
    "--aggregate",
    type=click.Choice(["macro", "micro"]),
    default="macro",
    show_default=True,
    help="Over several data sets: the mean of their figures, or that of all examples.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask the first N examples only.")
@SEED_OPTION
@concurrency_option("Episodes at once.")
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Ask everything N times.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="An example that takes longer has failed.",
)
@click.option(
    "--fail-under",
    "bounds",
    type=BoundParam(),
    multiple=True,
    help="Exit with status 1 if METRIC is below VALUE. May be given more than once.",
)
@click.option("--retry-failed", is_flag=True, help="Ask again what failed.")
@click.option(
    "--opt",
    "options",
    type=SettingParam(),
    multiple=True,
    help="An option of the agent. May be given more than once.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="The folder of the run.  [default: a folder in runs/ named after what is run]",
)
@WHOLE_OPTION
def run(
    subject: str,
    specs: tuple[str, ...],
    bounds: tuple[tuple[str, float], ...],
    out: Path | None,
    whole: bool,
    **settings: Any,
) -> int:
    """Measure an assistant or an agent on data.

    ASSISTANT is an assistant's YAML file. AGENT is repeat_label, repeat_query, fixed_response,
    random_candidate or ir_baseline, or module:Class of an agent that observes and acts as
    ParlAI's do.

    The run folder gets rows.jsonl with a row for each example (input, answer, agent, scores,
    latency, error), run.json with the configuration, and report.json. After an interruption the
    same command resumes the run; with another configuration it refuses and names the changes. A
    failed example is a row with an error, scores as an empty answer, and is asked again with
    --retry-failed. A larger --limit, or another --concurrency, continues the same run.

    Each episode of the data is a dialog with a user of its own. The random generator is seeded for
    each episode, so a run can be repeated; exactly, at --concurrency 1.

    \b
    Exit status: 0 done, 1 if a metric is under its bound, 130 if interrupted.
    \b
    Examples:
      prolocutor evaluate run repeat_label --data parlai:test.txt --metrics f1
      prolocutor evaluate run assistant.yaml --data jsonl:cases.jsonl --concurrency 8 --out runs/a
      prolocutor evaluate run my_agents:Mine --data fbdialog:qa.txt --time-limit 10
    """
    # The other options have the names of the settings; pairs of names and values become objects.
    given = msgspec.convert(
        {
            **settings,
            "options": dict(settings["options"]),
            "data_options": dict(settings["data_options"]),
        },
        EvaluationSettings,
    )
    _check(bounds, given.metrics, subject)
    evaluation = PreparedEvaluation(subject, specs, given)
    folder = out or evaluation.default_folder()
    name = evaluation.target.name
    try:
        with progress_bar(evaluation.number, name) as show:
            scores = ScoreProgress(show)
            report = evaluation.run(folder, scores)
            scores.show()
    except KeyboardInterrupt:
        click.echo(f"\n{folder}: interrupted; the same command goes on from here", err=True)
        return INTERRUPTED
    click.echo(f"{name} on {evaluation.data.specs}")
    for line in report_lines(report, whole=whole, asked=given.metrics):
        click.echo(line)
    click.echo(f"kept in {folder}")
    return UNDER if _fallen_short(report, bounds) else 0


def _check(bounds: tuple[tuple[str, float], ...], metrics: str, subject: str) -> None:
    """Refuse a bound on a metric that the run cannot have; an agent may report any of its own."""
    known = possible_scores(metrics) | FIGURES
    for name, _ in bounds:
        own = name.rpartition("/")[2]
        if own not in known and (own in ALL_METRICS or not may_report_metrics(subject)):
            what = f"the run will have no metric {name!r}; it will have {', '.join(sorted(known))}"
            raise click.BadParameter(what, param_hint="--fail-under")


def _fallen_short(report: RunReport, bounds: tuple[tuple[str, float], ...]) -> bool:
    fallen = False
    for name, least in bounds:
        found = report.find(name)
        if found is None:
            known = ", ".join([*report.metrics, *report.figures])
            raise BadInput(f"--fail-under: the run has no metric {name!r}; it has {known}")
        if not found.value >= least:
            click.echo(f"{name} is {found.value:.4g}, under {least:g}", err=True)
            fallen = True
    return fallen
