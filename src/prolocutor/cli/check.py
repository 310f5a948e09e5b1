"""`prolocutor check`: the faults of a file, or its plan."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from prolocutor.cli.options import CODE_OPTION
from prolocutor.config.file_check import CheckReport, PlannedService
from prolocutor.config.file_check import check as check_file
from prolocutor.config.loading import FILE_NAME, assistant_file


@click.command(short_help="List the faults of a file, or show its plan.")
@click.argument("file", default=FILE_NAME, type=click.Path(path_type=Path))
@CODE_OPTION
def check(file: Path, code: Path | None) -> None:
    """Find everything that is wrong with an assistant's file, or show the plan of its turn.

    FILE is `assistant.yaml` unless it is given.

    Each fault is one line, `file:line: key: what; did you mean ...`, and the exit status is 1.
    A file without faults is shown as a tree: which services are asked on which level, at the same
    time, for how long at most, and after whom. The critical path, marked *, is the chain whose
    time-outs add up to the most. Warnings are things that work and may surprise.

    The modules that the file names are imported, so their own code runs.

    \b
    Example:
      prolocutor check my-assistant/assistant.yaml
    """
    given = assistant_file(file)
    if code is not None:
        given = given.absolute()
        os.chdir(code)  # where it looks for the files that it reads
    report = check_file(given, code=code)
    if report.ok and sys.stdout.isatty():
        show(report, Console(highlight=False))
        return
    click.echo("\n".join(report.lines()), err=not report.ok)
    if not report.ok:
        raise click.exceptions.Exit(1)


def show(report: CheckReport, console: Console) -> None:
    """Show a person a plan without faults."""
    services = "1 service" if len(report.services) == 1 else f"{len(report.services)} services"
    title = f"{report.name}: {services}, replies within {report.deadline:g} s"
    tree = Tree(Text(title, style="bold"), guide_style="dim")
    for number, level in enumerate(report.levels(), 1):
        branch = tree.add(Text(f"level {number}", style="cyan"))
        for planned in level:
            branch.add(_leaf(planned))
    console.print(tree)
    console.print()
    path = " > ".join(report.critical)
    console.print(Text(f"critical path (*): {report.seconds:g} s of time-outs: {path}"))
    if report.last_chance:
        console.print(Text(f"last chance: {report.last_chance}"))
    for warning in report.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"), soft_wrap=True)
    for hint in report.hints:
        console.print(Text(f"hint: {hint}", style="dim"))


def _leaf(planned: PlannedService) -> Text:
    leaf = Text(planned.name, style="bold" if planned.critical else "")
    leaf.append(" *" if planned.critical else "", style="bold red")
    leaf.append(f"  {planned.timeout:g} s  {planned.stage}  {planned.target}", style="dim")
    after = [name for name in planned.waits_for if name not in planned.requires]
    if after:
        leaf.append(f"  after {', '.join(after)}", style="cyan")
    if planned.requires:
        leaf.append(f"  needs {', '.join(planned.requires)}", style="magenta")
    return leaf
