"""CSV: a row for each example under a head of field names, `text` and `labels` among them.

Rows as in RFC 4180. In list fields `|` stands between the items; newlines, tabs and `|` in them are
escaped as in ParlAI dialog text. `label` is a single label, without escapes. An empty cell is an
absent field, except for `text`. A row without `episode_done` is an episode of its own.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TextIO

import msgspec

from prolocutor.bounds import about
from prolocutor.data_sets import DataPlace, OnFault, refuse
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.episodes import is_done, split_episodes
from prolocutor.plugins.evaluation.parlai.formats import LIST_FIELDS, escape, number, unescape
from prolocutor.plugins.evaluation.parlai.json_lines import check_example
from prolocutor.plugins.evaluation.parlai.line_reader import BOM, LineSource
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.text_writer import TextWriter, check_lossless

SUFFIX: Final = ".csv"
FLAGS: Final = {"true": True, "false": False, "1": True, "0": False}


class CsvTable(LineSource):
    """A CSV file of examples; `text` and `labels` are the columns' names."""

    def __init__(
        self,
        file: str | Path,
        *,
        text: str = "text",
        labels: str = "labels",
        on_fault: OnFault = refuse,
    ) -> None:
        super().__init__(file, on_fault, plain=True)
        self._names = {text: "text", labels: "labels"}

    def episodes(self) -> Iterator[list[Message]]:
        """Read the file once."""
        return split_episodes(self._examples(), is_done)

    def _examples(self) -> Iterator[Message]:
        file = str(self._lines.file)
        rows = csv.reader((f"{line}\n" for _, line in self._lines), strict=True)
        head: list[str] = []
        for row in self._rows(rows, file):
            try:
                if not head:
                    head = self._head(row)
                    continue
                yield _example(head, row)
            except BadData as fault:
                if not head:
                    raise fault.at(file, 1) from None
                self._on_fault(fault.at(file, rows.line_num))

    def _rows(self, rows: Any, file: str) -> Iterator[list[str]]:
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                self._on_fault(BadData(f"not CSV: {error}", file=file, line=rows.line_num))
                continue
            if row:
                yield row

    def _head(self, row: list[str]) -> list[str]:
        names = [name.removeprefix(BOM).strip() for name in row]
        head = [self._names.get(name, name) for name in names]
        if "text" not in head:
            raise BadData(f"no column has this name; there are {', '.join(head)}", field="text")
        if len(set(head)) < len(head):
            raise BadData("two columns have the same name")
        return head


class CsvWriter(TextWriter):
    """Writes examples as CSV.

    `fields` are the columns, in this order; unless given, the fields of the first episode. The
    columns `text` and `labels` come first, and `episode_done` last, in any case.
    """

    def __init__(self, file: str | Path | TextIO, fields: Iterable[str] | None = None) -> None:
        super().__init__(file)
        self._derived = fields is None
        self._head = [] if fields is None else _columns(fields)
        self._begun = False

    def write(self, episode: Sequence[dict[str, Any]]) -> None:
        """Write an episode; raise `BadData` where something would be lost."""
        if self._derived and not self._begun:
            self._head = _columns(column_names([episode]))
        rows = [] if self._begun else [self._head]
        for place, message in enumerate(episode):
            fields = {**message, "episode_done": place == len(episode) - 1}
            if missing := [key for key in fields if key not in self._head]:
                hint = "; `fields` names those of all episodes" if self._derived else ""
                raise BadData(f"there is no such column{hint}", field=missing[0])
            row = [_cell(key, fields.get(key)) for key in self._head]
            check_lossless(fields, _example(self._head, row), "CSV")
            rows.append(row)
        self._begun = True
        for row in rows:
            self.put(",".join(map(_quote_cell, row)) + "\n")


def _columns(fields: Iterable[str]) -> list[str]:
    wanted = [one for one in fields if one not in ("text", "labels", "episode_done")]
    return ["text", "labels", *wanted, "episode_done"]


def _example(head: list[str], row: list[str]) -> Message:
    if len(row) != len(head):
        raise BadData(f"the row has {len(row)} cells, the head {len(head)}")
    message = Message()
    for key, cell in zip(head, row, strict=True):
        if cell or key == "text":
            message.force_set("labels" if key == "label" else key, _value(key, cell))
    check_example(message)
    return message


def _value(key: str, cell: str) -> Any:
    if key == "label":
        return [cell]
    if key in LIST_FIELDS:
        return [unescape(item) for item in cell.split("|")]
    if key == "reward":
        try:
            return number(cell)
        except ValueError:
            raise BadData(f"{cell[:40]!r} is not a number", field=key) from None
    if key == "episode_done":
        return FLAGS.get(cell.lower(), cell)
    return cell


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key in LIST_FIELDS and isinstance(value, list | tuple):
        return "|".join(escape(str(item)) for item in value)
    return str(value)


def _quote_cell(cell: str) -> str:
    if any(mark in cell for mark in '",\r\n') or cell != cell.strip():
        return '"' + cell.replace('"', '""') + '"'
    return cell


def column_names(episodes: Iterable[Sequence[dict[str, Any]]]) -> list[str]:
    """Return the names of all fields in the order of their first appearance."""
    return list(dict.fromkeys(chain.from_iterable(chain.from_iterable(episodes))))


class CsvTableData(msgspec.Struct, frozen=True, kw_only=True):
    """A CSV file of examples."""

    suffix: ClassVar[str] = ".csv"
    text: Annotated[str, about("The column that is the text.")] = "text"
    labels: Annotated[str, about("The column that is the labels.")] = "labels"

    def build(self, place: DataPlace) -> CsvTable:
        """Return the data set."""
        file = place.file(self.suffix)
        return CsvTable(file, text=self.text, labels=self.labels, on_fault=place.on_fault)
