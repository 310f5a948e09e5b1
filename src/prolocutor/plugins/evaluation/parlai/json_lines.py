"""Plain JSON lines: each an example, `{"text": ..., "labels": [...], ...}`.

`label` (one text) may stand for `labels`, and `labels` may be one text. A line without
`episode_done` is an episode of its own. Other names for text and labels can be given. All other
fields are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import msgspec

from prolocutor.bounds import about
from prolocutor.data_sets import DataPlace, OnFault, refuse
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.episodes import is_done, split_episodes
from prolocutor.plugins.evaluation.parlai.line_reader import LineSource
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.text_writer import TextWriter, check_lossless

SUFFIX: Final = ".jsonl"

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode


class JsonLines(LineSource):
    """A file of examples as JSON lines; `text` and `labels` name the fields that mean these."""

    def __init__(
        self,
        file: str | Path,
        *,
        text: str = "text",
        labels: str = "labels",
        on_fault: OnFault = refuse,
    ) -> None:
        super().__init__(file, on_fault)
        self._text, self._labels = text, labels

    def episodes(self) -> Iterator[list[Message]]:
        """Read the file once."""
        return split_episodes(self._parse_lines(self._example), is_done)

    def _example(self, line: str) -> Message | None:
        return read_example(line, self._text, self._labels) if line.strip() else None


def read_example(line: str, text: str = "text", labels: str = "labels") -> Message:
    """Read one line; `BadData` names the field."""
    try:
        fields = _decode(line)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadData("a line is an object with text and labels")
    for given, meant in ((text, "text"), (labels, "labels")):
        if given != meant and given in fields:
            fields[meant] = fields.pop(given)
    if "label" in fields and "labels" not in fields:
        fields["labels"] = fields.pop("label")
    if isinstance(fields.get("labels"), str):
        fields["labels"] = [fields["labels"]]
    check_example(fields)
    return Message(fields)


def check_example(fields: dict[str, Any]) -> None:
    """Raise `BadData` for the first field of a wrong type."""
    if not isinstance(fields.get("text"), str):
        what = "is missing" if "text" not in fields else "is not a text"
        raise BadData(what, field="text")
    if "eval_labels" in fields:
        what = "gold answers belong into labels; the datatype makes eval_labels of them"
        raise BadData(what, field="eval_labels")
    for field in ("labels", "label_candidates"):
        value = fields.get(field, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise BadData("is not a list of texts", field=field)
    if not isinstance(fields.get("episode_done", False), bool):
        raise BadData("is neither true nor false", field="episode_done")
    reward = fields.get("reward", 0)
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise BadData("is not a number", field="reward")


class JsonLinesWriter(TextWriter):
    """Writes examples as JSON lines, each with `episode_done`."""

    def write(self, episode: Sequence[dict[str, Any]]) -> None:
        """Write an episode; raise `BadData` where something would be lost."""
        for place, message in enumerate(episode):
            fields = {**message, "episode_done": place == len(episode) - 1}
            try:
                line = _encode(fields).decode()
            except (TypeError, ValueError) as error:
                raise BadData(f"cannot be written as JSON: {error}") from None
            check_lossless(fields, read_example(line), "JSON lines")
            self.put(f"{line}\n")


class JsonLinesData(msgspec.Struct, frozen=True, kw_only=True):
    """A file of examples as JSON lines."""

    suffix: ClassVar[str] = ".jsonl"
    text: Annotated[str, about("The field that is the text.")] = "text"
    labels: Annotated[str, about("The field that is the labels.")] = "labels"

    def build(self, place: DataPlace) -> JsonLines:
        """Return the data set."""
        file = place.file(self.suffix)
        return JsonLines(file, text=self.text, labels=self.labels, on_fault=place.on_fault)
