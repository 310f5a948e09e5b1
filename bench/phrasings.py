"""Counts sentences of a data set that the demo answers, without and with phrasings.

    python bench/phrasings.py DATA [--each 15]

DATA is a JSON file of CLINC150 (Larson et al., 2019): `learn` and `test` are lists of a sentence
and its intent, null for sentences out of scope. An answer counts in the demo's own intents; in
other intents it is a false one, unless the reply says what cannot be done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from unittest import mock

from rich.console import Console
from rich.table import Table

from prolocutor.assistant.assistant import Assistant
from prolocutor.plugins.language.follow_up.phrasings.reading import PhrasingReader

FILE: Final = Path(__file__).parents[1] / "src/prolocutor_demo/assistant/assistant.yaml"
OWN: Final = frozenset(
    "calculator date flip_coin reminder_update roll_dice shopping_list time todo_list"
    " todo_list_update what_is_your_name".split()
)
"""Intents that agents of the demo answer."""

LEAST_OF_OTHERS: Final = 3
"""Sentences of each other intent."""


def sentences(data: Mapping[str, Sequence[tuple[str, str | None]]], each: int) -> list[list[str]]:
    """Return sentences of the demo's own intents, and those of others."""
    of_intent: dict[str, list[str]] = defaultdict(list)
    for text, intent in (*data["test"], *data["learn"]):
        of_intent[intent or "none"].append(text)
    shuffled = random.Random(5)
    own: list[str] = []
    others: list[str] = []
    for intent in sorted(of_intent):
        every = of_intent[intent]
        shuffled.shuffle(every)
        if intent in OWN:
            own += every[:each]
        else:
            others += every[: max(LEAST_OF_OTHERS, each // 4)]
    return [own, others]


async def answered(texts: Sequence[str]) -> int:
    """Return how many texts the demo answers, each from a person of its own."""
    async with Assistant.from_file(FILE, store="memory:") as assistant:
        replies = [await assistant.reply(text, user=str(n)) for n, text in enumerate(texts)]
    return sum(not one.text.startswith(("I have no answer", "I cannot")) for one in replies)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--each", type=int, default=15, help="sentences of each own intent")
    given = parser.parse_args()
    parts = sentences(json.loads(given.data.read_text(encoding="utf-8")), given.each)
    table = Table("", *(f"of {len(one)}" for one in parts), title="Sentences that are answered")
    with mock.patch.object(PhrasingReader, "requests", return_value=()):
        table.add_row("without phrasings", *(str(asyncio.run(answered(one))) for one in parts))
    table.add_row("with phrasings", *(str(asyncio.run(answered(one))) for one in parts))
    Console().print(table)


if __name__ == "__main__":
    main()
