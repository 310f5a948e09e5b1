"""Rescoring: the rows of a run get their scores anew, and nobody is asked."""

from __future__ import annotations

from pathlib import Path

from prolocutor.evaluation.folder import (
    REPORT,
    ROWS,
    RUN,
    load_rows,
    load_run,
    owned,
    write_json,
)
from prolocutor.evaluation.reporting import Report, report_of
from prolocutor.evaluation.rows import rewrite
from prolocutor.evaluation.scoring import TeacherScorer


def rescore(path: Path, metrics: str | None = None) -> Report:
    """Score a run's rows by these metrics, or by its own, and write its report.

    The run goes on with them: its configuration names them from now on.
    """
    load_run(path)
    with owned(path):
        run = load_run(path)
        names = metrics or str(run.configuration.get("metrics") or "default")
        scorer = TeacherScorer(names)
        rows = [scorer.rescored(row) for row in load_rows(path)]
        run.configuration["metrics"] = names
        rewrite(path / ROWS, rows)
        write_json(path / RUN, run)
        report = report_of(rows, names)
        write_json(path / REPORT, report)
    return report
