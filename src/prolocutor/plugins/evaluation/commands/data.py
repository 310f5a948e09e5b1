"""`prolocutor data`: count, check and convert data sets."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any, Final

import click
import msgspec

from prolocutor.cli.options import SEED_OPTION
from prolocutor.cli.output import count_text, show_progress
from prolocutor.contracts.teacher import CountedSource, EpisodeSource
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.commands import data_text
from prolocutor.plugins.evaluation.commands.data_options import (
    DATA_OPTION,
    MUTATORS_OPTION,
    ONE_DATA_OPTION,
    format_options,
    kind_options,
    make_teacher,
    open_data,
)
from prolocutor.plugins.evaluation.parlai.csv_table import column_names
from prolocutor.plugins.evaluation.parlai.data_catalog import WRITERS, open_teacher, open_writer
from prolocutor.plugins.evaluation.parlai.datatype import FOLDS
from prolocutor.plugins.evaluation.parlai.dialog_text import DialogText
from prolocutor.plugins.evaluation.parlai.statistics import DataStatistics

_MOST_FAULTS: Final = 100
_LONG: Final = 100

_FOLD_OPTION: Final = click.option(
    "--fold",
    type=click.Choice(FOLDS),
    default="train",
    show_default=True,
    help="Which part, where the data are in parts.",
)


@click.group(short_help="Show, count, check and convert data sets of dialogs.")
def data() -> None:
    """Show, count, check and convert data sets of dialogs.

    Data are named KIND:PATH. The kinds are bbai, parlai (ParlAI dialog text), fbdialog,
    conversations (ParlAI's logs), jsonl, csv, and store (stored dialogs). Files may be larger than
    the memory.

    \b
    Examples:
      prolocutor data show --data parlai:dialogs.txt
      prolocutor data stats --data bbai:bbai-data
      prolocutor data check --data jsonl:questions.jsonl
      prolocutor data convert --data store: --to parlai --out dialogs.txt
    """


@data.command(short_help="Print examples as a teacher says them.")
@DATA_OPTION
@click.option(
    "--datatype",
    default="train:ordered",
    show_default=True,
    help="train, valid or test, with :stream, :ordered or :evalmode after it.",
)
@MUTATORS_OPTION
@click.option(
    "--image-mode",
    type=click.Choice(["raw", "ascii", "none"]),
    default="raw",
    show_default=True,
    help="What becomes of images.",
)
@click.option(
    "--limit", type=click.IntRange(0), default=10, show_default=True, help="How many; 0 for all."
)
@click.option("--weights", default="", help="Of several data: how often each is drawn (1,2).")
@click.option("--candidates", is_flag=True, help="All labels of the data are candidates.")
@click.option("--hide-labels", is_flag=True, help="Show no labels, unless for training.")
@click.option("--all-fields", is_flag=True, help="Show all fields, and all of them.")
@click.option("--json", "as_json", is_flag=True, help="One message a line, as JSON.")
@SEED_OPTION
@format_options
def show(
    data: tuple[str, ...],
    datatype: str,
    mutators: str,
    image_mode: str,
    limit: int,
    weights: str,
    candidates: bool,
    hide_labels: bool,
    all_fields: bool,
    as_json: bool,
    seed: int,
    **formats: Any,
) -> None:
    """Print examples of data sets as a teacher says them.

    Labels become eval_labels outside training. Several data take turns, or with the datatype train
    are drawn by weight.

    \b
    Examples:
      prolocutor data show --data parlai:dialogs.txt --mutators flatten
      prolocutor data show --data jsonl:digits.jsonl --image-mode ascii
      prolocutor data show --data bbai:bbai-data --datatype test --json --limit 0
    """
    more = {"hide_labels": hide_labels, "candidates": "labels" if candidates else None}
    teacher = make_teacher(
        data,
        datatype,
        formats,
        seed=seed,
        weights=weights,
        mutators=mutators,
        image_mode=image_mode,
        **more,
    )
    endless = teacher.datatype.cycle
    most = limit or (teacher.num_examples() if endless else sys.maxsize)
    begins = True
    for _, message in zip(range(most), teacher, strict=False):
        if as_json:
            click.echo(data_text.json_line(message))
            continue
        if begins:
            click.echo(f"--- {message['id']} ---")
        for line in data_text.message_lines(message, all_fields=all_fields):
            click.echo(line)
        begins = bool(message["episode_done"])


@data.command(short_help="Count what data sets hold.")
@DATA_OPTION
@_FOLD_OPTION
@click.option("--json", "as_json", is_flag=True, help="As JSON, one line for each of the data.")
@format_options
def stats(data: tuple[str, ...], fold: str, as_json: bool, **formats: Any) -> None:
    """Count episodes, examples, labels, words and rewards of data sets.

    Of BBAI data all folds are counted, as in the paper: utterances, those with a gold agent,
    question-response pairs, agents, domains.

    \b
    Examples:
      prolocutor data stats --data bbai:bbai-data
      prolocutor data stats --data conversations:log.jsonl --label-turns both
    """
    for one in data:
        source = open_data(one, fold, formats)
        if isinstance(source, CountedSource):
            rows = source.counts()
            lines = list(data_text.count_lines(rows))
            counts: Any = {"data": one, "folds": rows}
        else:
            counted = _count_episodes(source)
            lines = list(data_text.statistics_lines(one, counted))
            counts = {"data": one, **msgspec.structs.asdict(counted)}
        for line in [msgspec.json.encode(counts).decode()] if as_json else lines:
            click.echo(line)


def _count_episodes(source: EpisodeSource) -> DataStatistics:
    counted = DataStatistics()
    for _ in show_progress(
        counted.count_episodes(source.episodes()), "episodes", lambda: source.portion
    ):
        pass
    return counted


@data.command(short_help="Find what is wrong with data sets.")
@DATA_OPTION
@_FOLD_OPTION
@format_options
def check(data: tuple[str, ...], fold: str, **formats: Any) -> None:
    """Read data sets from end to end and list their faults.

    Each fault is one line, `file:line: field: fault`, and the exit status is 1. Warnings are
    probable mistakes in readable lines.

    \b
    Example:
      prolocutor data check --data parlai:dialogs.txt --data jsonl:more.jsonl
    """
    faults: list[BadData] = []

    def note(fault: BadData) -> None:
        faults.append(fault)
        if len(faults) <= _MOST_FAULTS:
            click.echo(str(fault), err=True)

    for one in data:
        source = open_data(one, fold, formats, on_fault=note)
        counted = _count_episodes(source)
        episodes = count_text(counted.episodes, "episode")
        click.echo(f"{one}: {episodes}, {count_text(counted.examples, 'example')}")
        said = source.warnings() if isinstance(source, DialogText) else []
        for warning in [*_warnings(counted), *said]:
            click.echo(f"warning: {one}: {warning}", err=True)
    if len(faults) > _MOST_FAULTS:
        click.echo(f"{len(faults) - _MOST_FAULTS:,} more faults are not listed", err=True)
    if faults:
        raise click.exceptions.Exit(1)


def _warnings(counted: DataStatistics) -> list[str]:
    warnings = []
    if not counted.examples:
        warnings.append("there is nothing in it")
    if counted.episodes == 1 and counted.examples > _LONG:
        warnings.append("it is one very long episode; is episode_done missing?")
    if unlabelled := counted.examples - counted.with_labels:
        warnings.append(f"{unlabelled:,} of {counted.examples:,} examples have no labels")
    return warnings


@data.command(short_help="Write a data set in another format.")
@ONE_DATA_OPTION
@_FOLD_OPTION
@MUTATORS_OPTION
@SEED_OPTION
@click.option("--to", "kind", type=click.Choice(WRITERS.names()), required=True, help="The format.")
@click.option("--out", metavar="FILE", default="-", help="Where to.  [default: stdout]")
@click.option("--drop", metavar="FIELDS", default="", help="Fields to leave out, with commas.")
@format_options
def convert(
    data: str,
    fold: str,
    mutators: str,
    seed: int,
    kind: str,
    out: str,
    drop: str,
    **formats: Any,
) -> None:
    """Convert a data set to another format without loss.

    A field that the other format cannot hold is an error; --drop leaves fields out.

    \b
    Examples:
      prolocutor data convert --data conversations:log.jsonl --to jsonl --out log2.jsonl
      prolocutor data convert --data store: --to parlai --out real.txt \\
        --drop dialog_id,utt_id,active_skill,confidence
    """
    teacher = open_teacher(
        data,
        fold,
        chance=Random(seed),
        mutators=mutators,
        image_mode="untouched",
        **kind_options(data, formats),
    )
    dropped = [name for name in drop.split(",") if name]
    options: dict[str, Any] = {}
    if kind == "csv":
        found = column_names(teacher.episodes())
        options["fields"] = [name for name in found if name not in dropped]
    written = 0
    with open_writer(kind, sys.stdout if out == "-" else Path(out), **options) as writer:
        for episode in show_progress(teacher.episodes(), "episodes", lambda: teacher.portion):
            for message in episode:
                for name in dropped:
                    message.pop(name, None)
            try:
                writer.write(episode)
            except BadData as fault:
                raise BadData(f"episode {written + 1}: {fault}{_hint(fault.field)}") from None
            written += 1
    if out != "-":
        click.echo(f"{written:,} episodes are written to {out}", err=True)


def _hint(field: str | None) -> str:
    if field in (None, "text", "labels"):
        return ""
    return f"; --drop {field} leaves the field out"
