"""Options that name data sets, and the teachers of these data sets."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeVar

import click

from prolocutor.contracts.teacher import EpisodeSource
from prolocutor.data_sets import DATA, open_source, split
from prolocutor.plugins.evaluation.parlai.conversations import LABEL_TURNS
from prolocutor.plugins.evaluation.parlai.data_catalog import open_teacher
from prolocutor.plugins.evaluation.parlai.multitask import MultiTaskTeacher
from prolocutor.plugins.evaluation.parlai.teacher import DialogTeacher

Command = TypeVar("Command", bound=Callable[..., Any])
Options = dict[str, Any]

DATA_OPTION: Final = click.option(
    "--data",
    required=True,
    multiple=True,
    metavar="KIND:PATH",
    help="The data. Kinds: bbai (a folder), parlai, fbdialog, conversations, jsonl, csv, rewrites "
    "(files), store (a store of dialogs; an empty PATH is your own). May be given several times.",
)

ONE_DATA_OPTION: Final = click.option(
    "--data", required=True, metavar="KIND:PATH", help="The data; see `prolocutor data show -h`."
)

MUTATORS_OPTION: Final = click.option(
    "--mutators", default="", metavar="NAMES", help="Changes of the data: flatten+word_shuffle."
)

_FORMAT_OPTIONS: Final = (
    click.option("--quirks", is_flag=True, help="parlai: read lines with all of ParlAI's quirks."),
    click.option("--cloze", is_flag=True, help="fbdialog: the words of cloze tasks go first."),
    click.option(
        "--label-turns",
        type=click.Choice(LABEL_TURNS),
        help="conversations: whose turns are labels.  [default: secondspeaker]",
    ),
    click.option("--text", metavar="NAME", help="jsonl, csv: the field that is the text."),
    click.option(
        "--labels",
        metavar="NAME",
        help="jsonl, csv: the field that is the labels; bbai: agents or responses.",
    ),
)


def format_options(command: Command) -> Command:
    """Add the options of single kinds to a command."""
    for option in reversed(_FORMAT_OPTIONS):
        command = option(command)
    return command


def kind_options(data: str, given: Options) -> Options:
    """Return the options of a data set's kind; raise `UsageError` for options of other kinds."""
    kind, _ = split(data)
    known = DATA.load(kind).__struct_fields__  # type: ignore[attr-defined]
    options = {name: value for name, value in given.items() if value}
    for name in options:
        if name not in known:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is not for data of the kind {kind}")
    return options


def open_data(data: str, fold: str, given: Options, **more: Any) -> EpisodeSource:
    """Open the data set `KIND:PATH`."""
    return open_source(data, fold, **kind_options(data, given), **more)


def make_teacher(
    data: tuple[str, ...], datatype: str, given: Options, *, seed: int, weights: str, **more: Any
) -> DialogTeacher | MultiTaskTeacher:
    """Make the teacher of one data set, or of several."""
    if weights and len(data) == 1:
        raise click.UsageError("--weights is for several data, and there is one --data")
    chance = Random(seed)
    teachers = [
        open_teacher(one, datatype, chance=chance, **kind_options(one, given), **more)
        for one in data
    ]
    if len(teachers) == 1:
        return teachers[0]
    return MultiTaskTeacher(teachers, _weights(weights), chance=chance)


def _weights(text: str) -> Any:
    if text in ("", "stochastic"):
        return text or ()
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError("--weights are numbers with commas between, or stochastic") from None
