"""The data that a command means, `KIND:PATH`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from prolocutor.errors import BadInput
from prolocutor.evaluation.content import content_of
from prolocutor.evaluation.episodes import Message
from prolocutor.parlai.dialog_text import DialogText
from prolocutor.parlai.json_lines import JsonLines


class Data(msgspec.Struct, frozen=True):
    """What is asked: its messages, read anew each time; their number where it is known."""

    kind: str
    name: str
    content: str | None
    number: int | None
    messages: Callable[[], Iterable[Message]]


def open_data(spec: str, datatype: str, mutators: str | None) -> Data:
    """Find the data; `BadInput` where there are none."""
    kind, colon, rest = spec.partition(":")
    path = Path(rest)
    if not colon or not path.exists():
        raise BadInput(f"{spec}: there are no such data")
    content = content_of([path])
    return Data(kind, path.stem, content, None, lambda: _messages(kind, path))


def _messages(kind: str, path: Path) -> Iterator[dict[str, Any]]:
    source = JsonLines(path) if kind == "jsonl" else DialogText(path)
    for episode in source.episodes():
        for place, message in enumerate(episode):
            fields = dict(message)
            if "labels" in fields:
                fields["eval_labels"] = fields.pop("labels")
            fields["episode_done"] = place == len(episode) - 1
            yield fields
