"""`prolocutor data`: count, check and convert data sets."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

import click
import msgspec

from prolocutor.cli.options import SEED_OPTION
from prolocutor.cli.output import count_text, show_progress
from prolocutor.contracts.teacher import CountedSource, EpisodeSource
from prolocutor.data_sets import DATA, open_source, split
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.conversations import LABEL_TURNS
from prolocutor.plugins.evaluation.parlai.csv_table import column_names
from prolocutor.plugins.evaluation.parlai.data_catalog import WRITERS, open_teacher, open_writer
from prolocutor.plugins.evaluation.parlai.dialog_text import DialogText
from prolocutor.plugins.evaluation.parlai.message import MessageFields
from prolocutor.plugins.evaluation.parlai.multitask import MultiTaskTeacher
from prolocutor.plugins.evaluation.parlai.payload import to_json
from prolocutor.plugins.evaluation.parlai.teacher import FOLDS, DialogTeacher

USUAL_FIELDS: Final[tuple[str, ...]] = (
    "image",
    "text",
    "labels",
    "eval_labels",
    "label_candidates",
    "reward",
)
_MOST: Final = 12

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

_MOST_FAULTS: Final = 100
_LONG: Final = 100

_FOLD_OPTION: Final = click.option(
    "--fold",
    type=click.Choice(FOLDS),
    default="train",
    show_default=True,
    help="Which part, where the data are in parts.",
)


def message_lines(message: dict[str, Any], *, all_fields: bool) -> Iterator[str]:
    """Return a message as lines: image and text first, then a line for each field."""
    if (image := message.get("image")) is not None:
        yield image if isinstance(image, str) else f"   <{_image(image)}>"
    if "text" in message:
        yield str(message["text"])
    shown = [key for key in USUAL_FIELDS[2:] if key in message]
    if all_fields:
        shown += [key for key in message if key not in (*USUAL_FIELDS, "episode_done", "id")]
    for key in shown:
        if key != "reward" or message[key]:
            yield f"   {key}: {_value(message[key], all_fields)}"


def json_line(message: dict[str, Any]) -> str:
    """Return a message as one line of JSON."""
    return msgspec.json.encode(to_json(message)).decode()


def statistics_lines(name: str, counted: DataStatistics) -> Iterator[str]:
    """Return counts as lines for a person."""
    yield name
    per_episode = _mean(counted.examples, counted.episodes)
    yield f"  episodes        {counted.episodes:,}"
    yield f"  examples        {counted.examples:,}"
    yield f"  per episode     {per_episode} (longest {counted.longest_episode:,})"
    yield f"  with labels     {counted.with_labels:,}"
    yield f"  labels each     {_mean(counted.labels, counted.with_labels)}"
    if counted.with_candidates:
        each = _mean(counted.candidates, counted.with_candidates)
        yield f"  with candidates {counted.with_candidates:,} (each {each})"
    yield f"  words a text    {_mean(counted.text_words, counted.examples)}"
    yield f"  words a label   {_mean(counted.label_words, counted.labels)}"
    if counted.with_reward:
        yield f"  reward          {counted.reward:g} in {counted.with_reward:,} examples"
    yield f"  fields          {', '.join(counted.fields)}"


def count_lines(rows: Sequence[msgspec.Struct]) -> Iterator[str]:
    """Return counts, a row for each part of the data, as a table."""
    heads = [name.replace("_", " ") for name in rows[0].__struct_fields__]
    yield "  ".join(heads)
    for row in rows:
        cells = [
            f"{one:,}" if isinstance(one, int) else one for one in msgspec.structs.astuple(row)
        ]
        padded = [cell.rjust(len(head)) for cell, head in zip(cells, heads, strict=True)]
        yield "  ".join([cells[0].ljust(len(heads[0])), *padded[1:]])


def _mean(total: float, number: int) -> str:
    return f"{total / number:.2f}" if number else "-"


def _value(value: Any, whole: bool) -> str:
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        shown = value if whole else value[:_MOST]
        rest = f" | ... ({len(value)} in all)" if len(shown) < len(value) else ""
        return " | ".join(one.replace("\n", "\\n") for one in shown) + rest
    if isinstance(value, str | int | float):
        return str(value)
    return json.dumps(to_json({"": value})[""], ensure_ascii=False)


def _image(image: Any) -> str:
    if hasattr(image, "size") and hasattr(image, "mode"):
        return f"image {image.size[0]} x {image.size[1]}, {image.mode}"
    return f"image as {type(image).__name__}"


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


class DataStatistics(msgspec.Struct):
    """Counts over the episodes of one data set; words are separated by white space."""

    episodes: int = 0
    examples: int = 0
    longest_episode: int = 0
    with_labels: int = 0
    labels: int = 0
    with_candidates: int = 0
    candidates: int = 0
    text_words: int = 0
    label_words: int = 0
    with_reward: int = 0
    reward: float = 0.0
    fields: dict[str, int] = {}

    def count_episodes(self, episodes: Iterable[Sequence[dict[str, Any]]]) -> Iterator[int]:
        """Count episodes, yielding the number of examples so far after each."""
        fields: Counter[str] = Counter(self.fields)
        for episode in episodes:
            self.episodes += 1
            self.longest_episode = max(self.longest_episode, len(episode))
            for example in episode:
                self._count(example)
                fields.update(example.keys())
            self.fields = dict(fields)
            yield self.examples

    def _count(self, example: dict[str, Any]) -> None:
        fields = MessageFields(example)
        labels, candidates = fields.gold, fields.label_candidates
        self.examples += 1
        self.with_labels += bool(labels)
        self.labels += len(labels)
        self.with_candidates += bool(candidates)
        self.candidates += len(candidates)
        self.text_words += len((fields.text or "").split())
        self.label_words += sum(len(label.split()) for label in labels)
        if reward := fields.reward:
            self.with_reward += 1
            self.reward += reward


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
            click.echo(json_line(message))
            continue
        if begins:
            click.echo(f"--- {message['id']} ---")
        for line in message_lines(message, all_fields=all_fields):
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
            lines = list(count_lines(rows))
            counts: Any = {"data": one, "folds": rows}
        else:
            counted = _count_episodes(source)
            lines = list(statistics_lines(one, counted))
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
