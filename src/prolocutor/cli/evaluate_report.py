"""`prolocutor evaluate report`: a run as one page to read."""

from __future__ import annotations

from pathlib import Path

import click

from prolocutor.evaluation.run_folder import load_rows, load_run
from prolocutor.evaluation.run_page import page_of
from prolocutor.evaluation.run_report import aggregate_of, report_of

PAGE = "report.html"


@click.command(short_help="Write a run as one page to read.")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="FILE",
    help=f"Where to; - is stdout.  [default: {PAGE} in the run's folder]",
)
def report(run: Path, out: str | None) -> None:
    """Write a run as one HTML page: plots, figures, and every dialog, to be searched and read.

    The page needs no network and no other file.

    \b
    Example:
      prolocutor evaluate report runs/a --out a.html
    """
    rows, kept = load_rows(run), load_run(run)
    found = report_of(rows, str(kept.configuration.get("metrics") or "default"), aggregate_of(kept))
    target = out or str(run / PAGE)
    with click.open_file(target, "w", encoding="utf-8") as file:
        file.write(page_of(kept, found, rows))
    if target != "-":
        click.echo(target)
