"""Text output of the data commands: messages and counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from prolocutor.plugins.evaluation.parlai.payload import to_json
from prolocutor.plugins.evaluation.parlai.statistics import DataStatistics

USUAL_FIELDS: Final[tuple[str, ...]] = (
    "image",
    "text",
    "labels",
    "eval_labels",
    "label_candidates",
    "reward",
)
_MOST: Final = 12


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
