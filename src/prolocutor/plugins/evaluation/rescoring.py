"""Rescoring: the rows of a run get new scores, without asking again."""

from __future__ import annotations

from pathlib import Path

from prolocutor.owned_folder import own_folder, write_json
from prolocutor.plugins.evaluation.example_rows import rewriting
from prolocutor.plugins.evaluation.run_folder import REPORT, ROWS, RUN, load_run, rows_in_order
from prolocutor.plugins.evaluation.run_report import (
    Aggregate,
    RunReport,
    make_report,
    run_aggregate,
)
from prolocutor.plugins.evaluation.scoring import TeacherScorer


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
