"""The report of a run: its metrics in all, by data set and by group, with intervals."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final, Literal

import msgspec

from prolocutor.plugins.evaluation.example_rows import ExampleRow, rewriting
from prolocutor.plugins.evaluation.owned_folder import own_folder, write_json
from prolocutor.plugins.evaluation.parlai.metrics.estimates import (
    CONFIDENCE,
    Estimate,
    estimate_mean,
    estimate_share,
    measure_rows,
    report_estimates,
)
from prolocutor.plugins.evaluation.parlai.metrics.reports import Report as Metrics
from prolocutor.plugins.evaluation.parlai.metrics.reports import aggregate_named_reports
from prolocutor.plugins.evaluation.run_folder import (
    REPORT,
    ROWS,
    RUN,
    RunDescription,
    load_run,
    rows_in_order,
)
from prolocutor.plugins.evaluation.scoring import OwnMetrics, TeacherScorer, needs_corpus

_FEW: Final = 2000
_Z: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_STUDENT: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_NEXT_TO_NOTHING: Final = 1e-12

Estimates = dict[str, Estimate]
Aggregate = Literal["macro", "micro"]

EXAMPLES: Final = "exs"
FIGURES: Final = frozenset(
    (
        "latency",
        "latency_p50",
        "latency_p95",
        "latency_p99",
        "cost",
        "calls",
        "abstention",
        "errors",
    )
)
_FEW_ENOUGH: Final = 200
"""More groups than this, or a group for each example, are not reported."""


def rescore(
    path: Path, metrics: str | None = None, aggregate: Aggregate | None = None
) -> RunReport:
    """Score a run's rows by these metrics, or by its own, and write its report.

    The run goes on with them: its configuration names them from then on.
    """
    load_run(path)
    with own_folder(path):
        run = load_run(path)
        names = metrics or run.metrics
        scorer = TeacherScorer(names)
        rows = rewriting(path / ROWS, map(scorer.rescore, rows_in_order(path)))
        mean = aggregate or run_aggregate(run)
        report = make_report(rows, names, mean)
        run.configuration["metrics"] = names
        run.options["aggregate"] = mean
        write_json(path / RUN, run)
        write_json(path / REPORT, report)
    return report


class ScoreSums:
    """The sums of a score over the examples, added episode by episode.

    `values` holds the scores of up to 2,000 examples, for a bootstrap interval; with more examples
    it is empty.
    """

    __slots__ = (
        "_cross", "_episode", "_open", "_sizes", "_squared_totals", "bounded", "count", "episodes",
        "share", "squares", "total", "values",
    )  # fmt: skip

    def __init__(self) -> None:
        self.count = self.episodes = 0
        self.total = self.squares = 0.0
        self.share = self.bounded = True
        self.values = array("d")
        self._squared_totals = self._cross = self._sizes = 0.0
        self._episode = -1
        self._open = (0.0, 0)

    def add(self, episode: int, value: float) -> None:
        """Add the score of an example; examples of an episode are added in succession."""
        if episode != self._episode:
            self._close()
            self._episode, self._open = episode, (0.0, 0)
            self.episodes += 1
        self._open = self._open[0] + value, self._open[1] + 1
        self.count += 1
        self.total += value
        self.squares += value * value
        self.share = self.share and value in (0.0, 1.0)
        self.bounded = self.bounded and 0 <= value <= 1
        if self.count <= _FEW:
            self.values.append(value)
        elif self.values:
            self.values = array("d")

    def estimate(self, *, difference: bool = False) -> Estimate:
        """Return the mean of all examples (at least one); `difference`: values are from -1 to 1."""
        mean, bounded = self.total / self.count, self.bounded and not difference
        if self.episodes == self.count:
            return self._estimate_independent(mean, bounded)
        if self.episodes == 1:
            found = self._estimate_independent(mean, bounded)
            return msgspec.structs.replace(found, method="examples")
        error = self._clustered_error(mean)
        if bounded:
            return self._estimate_bounded(mean, error)
        return _normal(mean, error, self.count)

    def _estimate_independent(self, mean: float, bounded: bool) -> Estimate:
        """Estimate as if the examples were independent."""
        if self.share and bounded:
            return estimate_share(round(self.total), self.count)
        if self.values:
            found = estimate_mean(self.values)
            assert found is not None
            if bounded and self.count > 1 and found.low == found.high:
                return _wilson(mean, found.error or 0.0, self.count, self.count)
            return found
        rest = max(0.0, self.squares - mean * self.total) / (self.count - 1)
        error = sqrt(rest / self.count) if rest > _NEXT_TO_NOTHING * self.squares else 0.0
        if bounded and not error:
            return _wilson(mean, error, self.count, self.count)
        return _normal(mean, error, self.count)

    def _estimate_bounded(self, mean: float, error: float) -> Estimate:
        draws = mean * (1 - mean) / (error * error) if error else float(self.episodes)
        if self.share:
            draws = min(draws, self.count)
        draws *= (_Z / _student(self.episodes - 1)) ** 2
        return _wilson(mean, error, draws, self.count)

    def _clustered_error(self, mean: float) -> float:
        self._close()
        self._episode, self._open = -1, (0.0, 0)
        number, squares = self.episodes, self._squared_totals
        rest = squares - 2 * mean * self._cross + mean * mean * self._sizes
        if rest <= _NEXT_TO_NOTHING * squares:
            return 0.0
        return sqrt(rest * number / (number - 1)) / self.count

    def _close(self) -> None:
        total, size = self._open
        self._squared_totals += total * total
        self._cross += total * size
        self._sizes += size * size


def mean_of_estimates(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates, each with the same weight."""
    number = len(estimates)
    value = sum(one.value for one in estimates) / number
    count = sum(one.count for one in estimates)
    errors = [one.error for one in estimates if one.error is not None]
    error = sqrt(sum(one * one for one in errors)) / number if len(errors) == number else None
    below = [one.value - one.low for one in estimates if one.low is not None]
    above = [one.high - one.value for one in estimates if one.high is not None]
    if len(below) < number or len(above) < number:
        return Estimate(value, error, count=count)
    low, high = (sqrt(sum(one * one for one in arms)) / number for arms in (below, above))
    method: Literal["tasks"] = "tasks"
    return Estimate(value, error, value - low, value + high, count, method)


def _wilson(mean: float, error: float, draws: float, count: int) -> Estimate:
    """Return Wilson's interval as if `draws` shares had been drawn."""
    mean = min(1.0, max(0.0, mean))
    middle = (mean + _Z * _Z / (2 * draws)) / (1 + _Z * _Z / draws)
    spread = sqrt(mean * (1 - mean) / draws + _Z * _Z / (4 * draws * draws))
    half = _Z * spread / (1 + _Z * _Z / draws)
    low = 0.0 if mean == 0 else max(0.0, middle - half)
    high = 1.0 if mean == 1 else min(1.0, middle + half)
    return Estimate(mean, error, low, high, count, "wilson")


def _normal(mean: float, error: float, count: int) -> Estimate:
    return Estimate(mean, error, mean - _Z * error, mean + _Z * error, count, "normal")


def _student(freedom: int) -> float:
    """Return the 97.5 % point of Student's t."""
    if freedom <= len(_STUDENT):
        return _STUDENT[freedom - 1]
    return _Z * (1 + (_Z * _Z + 1) / (4 * freedom))


class RunReport(msgspec.Struct, kw_only=True):
    """The report of a run. `metrics` are scores, `figures` latency, calls, abstention, errors.

    `tasks`: the metrics of each data set, where there are several; `aggregate` says whether
    `metrics` are then the mean over the data sets (macro) or over all examples (micro). `groups`:
    the metrics by domain or task, where there are several. `by`: the number of examples answered by
    each agent.
    """

    examples: int
    episodes: int
    answered: int
    failed: int
    metrics: Estimates
    figures: Estimates
    tasks: dict[str, Estimates] = {}
    aggregate: Aggregate | None = None
    groups: dict[str, Estimates] = {}
    by: dict[str, int] = {}

    def estimates(self) -> list[tuple[str, Estimate]]:
        """Return all metrics and figures by name; a task's figures as `task/name`."""
        of_tasks = [
            (f"{task}/{name}", one) for task, of in self.tasks.items() for name, one in of.items()
        ]
        return [*self.metrics.items(), *self.figures.items(), *of_tasks]

    def find(self, name: str) -> Estimate | None:
        """Return a metric or figure by name; a task's or group's by `task/name`."""
        part, slash, own = name.rpartition("/")
        for parts in (self.tasks, self.groups):
            if slash and part in parts and own in parts[part]:
                return parts[part][own]
        return self.metrics.get(name) or self.figures.get(name)


def make_report(
    rows: Iterable[ExampleRow], metrics: str = "default", aggregate: Aggregate = "macro"
) -> RunReport:
    """Return the report of a run's rows, which come in order and are read once."""
    count = _RunTally(metrics)
    figures = measure_rows(count.add_rows(rows))
    tasks: dict[str, Estimates] = {}
    if len(count.tasks) > 1:
        tasks = {name: part.estimates() for name, part in count.tasks.items()}
        reports = {name: part.others() for name, part in count.tasks.items()}
        whole = aggregate_named_reports(reports, micro_average=aggregate == "micro")
        others = report_estimates(
            {name: one for name, one in whole.items() if _overall(name, reports)}
        )
        for name, report in reports.items():
            tasks[name].update(report_estimates(report))
        means = count.whole.estimates() if aggregate == "micro" else _macro(tasks, others)
        found = {**means, **others}
    else:
        found = {**count.whole.estimates(), **report_estimates(count.whole.others())}
    found[EXAMPLES] = found.pop(EXAMPLES)
    return RunReport(
        examples=count.examples,
        episodes=count.episodes,
        answered=count.examples - count.failed,
        failed=count.failed,
        metrics=found,
        figures=figures,
        tasks=tasks,
        aggregate=aggregate if tasks else None,
        groups=count.shown_groups(),
        by=dict(count.by.most_common()),
    )


def run_aggregate(run: RunDescription) -> Aggregate:
    """Return the aggregation of the run's last report."""
    return "micro" if run.options.get("aggregate") == "micro" else "macro"


def clustered_mean(pairs: Sequence[tuple[int, float]], *, difference: bool = False) -> Estimate:
    """Estimate the mean of clustered values: (cluster, value), not empty."""
    sums = ScoreSums()
    for cluster, value in sorted(pairs, key=lambda pair: pair[0]):
        sums.add(cluster, value)
    return sums.estimate(difference=difference)


class _Tally:
    """The sums of a task, a group, or the whole run."""

    def __init__(self, metrics: str | None = None) -> None:
        self.examples = 0
        self._sums: dict[str, ScoreSums] = {}
        self._own = OwnMetrics()
        self._corpus = TeacherScorer(metrics) if metrics and needs_corpus(metrics) else None

    def add(self, row: ExampleRow, *, own: bool = True) -> None:
        self.examples += 1
        for name, score in row.scores.items():
            if score is not None:
                sums = self._sums.get(name)
                if sums is None:
                    sums = self._sums[name] = ScoreSums()
                sums.add(row.episode, score)
        if own and row.metrics:
            self._own.add(row)
        if self._corpus is not None:
            self._corpus.score(row.input, row.act if row.error is None else {"text": ""})

    def estimates(self) -> Estimates:
        """Return the estimates of the scores, and the number of examples."""
        found = {name: sums.estimate() for name, sums in self._sums.items()}
        found[EXAMPLES] = Estimate(float(self.examples), count=self.examples)
        return found

    def others(self) -> Metrics:
        """Return the metrics other than means of scores: agents' own, and corpus metrics."""
        found = dict(self._own.report)
        if self._corpus is not None:
            whole = self._corpus.report()
            found.update((name, one) for name, one in whole.items() if name.startswith("inter"))
        return found


class _RunTally:
    """Adds rows up while they pass."""

    def __init__(self, metrics: str) -> None:
        self._metrics = metrics
        self.examples = self.episodes = self.failed = 0
        self.by: Counter[str] = Counter()
        self.whole = _Tally(metrics)
        self.tasks: dict[str, _Tally] = {}
        self._groups: dict[str, _Tally] | None = {}
        self._apart = False  # whether groups are other than the tasks
        self._before = (-1, 0)

    def add_rows(self, rows: Iterable[ExampleRow]) -> Iterator[Mapping[str, Any]]:
        """Add each row, and yield its fields for latency, calls and errors."""
        for row in rows:
            self._add(row)
            yield _measured_fields(row)

    def shown_groups(self) -> dict[str, Estimates]:
        """Return the metrics of each group, if there are several groups and fewer than examples."""
        groups = self._groups or {}
        several = 1 < len(groups) < min(_FEW_ENOUGH, self.examples)
        if not several or not self._apart:
            return {}
        return {name: groups[name].estimates() for name in sorted(groups)}

    def _add(self, row: ExampleRow) -> None:
        key = (row.episode, row.repeat)
        self.episodes += key != self._before
        self._before = key
        self.examples += 1
        if row.error is None:
            self.by[row.by] += 1
        else:
            self.failed += 1
        self.whole.add(row)
        self._apart = self._apart or row.group != row.task
        if row.task:
            if row.task not in self.tasks:
                self.tasks[row.task] = _Tally(self._metrics)
            self.tasks[row.task].add(row)
        if self._groups is not None:
            if row.group not in self._groups:
                self._groups[row.group] = _Tally()
            self._groups[row.group].add(row, own=False)
            if len(self._groups) >= _FEW_ENOUGH:
                self._groups = None


def _macro(tasks: Mapping[str, Estimates], others: Estimates) -> Estimates:
    """Return the means of the tasks' scores, each over the tasks that have it."""
    names = dict.fromkeys(name for found in tasks.values() for name in found)
    means = {
        name: mean_of_estimates([found[name] for found in tasks.values() if name in found])
        for name in names
        if name not in others
    }
    examples = sum(found[EXAMPLES].count for found in tasks.values())
    means[EXAMPLES] = Estimate(float(examples), count=examples)
    return means


def _overall(name: str, reports: Mapping[str, Metrics]) -> bool:
    """Return whether an aggregated metric is over all tasks, unlike `task/name`."""
    return any(name in report for report in reports.values())


def _measured_fields(row: ExampleRow) -> Mapping[str, Any]:
    return {
        "seconds": row.seconds,
        "calls": row.calls,
        "cost": row.act.get("cost"),
        "text": row.answer,
        "error": row.error,
    }
