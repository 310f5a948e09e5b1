"""`prolocutor evaluate rescore`: a run's rows get their scores anew."""

from __future__ import annotations

from pathlib import Path

import click

from prolocutor.cli.evaluation_tables import report_lines
from prolocutor.evaluation.rescoring import rescore as rescore_run
from prolocutor.evaluation.run_report import Aggregate


@click.command(short_help="Score a run anew, asking nobody.")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--metrics", metavar="NAMES", help="What is measured.  [default: as before]")
@click.option(
    "--aggregate",
    type=click.Choice(["macro", "micro"]),
    help="Over several data sets: the mean of theirs, or of all examples.  [default: as before]",
)
def rescore(run: Path, metrics: str | None, aggregate: Aggregate | None) -> None:
    """Score a run's rows anew, by other metrics or a changed one of your own, asking nobody.

    \b
    Examples:
      prolocutor evaluate rescore runs/a --metrics default,distinct
      prolocutor evaluate rescore runs/a --metrics f1,my_metrics:politeness
    """
    for line in report_lines(rescore_run(run, metrics, aggregate)):
        click.echo(line)
