"""The process of one training: `python -m`, one line of JSON at stdin, lines of JSON at stdout.

It gives way to what serves people: its priority is the lowest. When it is killed, the model in use
is as it was, as only the new model's own folder is written.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import msgspec

from prolocutor.config.store_location import read_from
from prolocutor.contracts.model_use import TrainingEnd, TrainingOrder, TrainingStep
from prolocutor.contracts.pairing import LabelledQuestion
from prolocutor.contracts.store import ArchiveStore, DialogQuery
from prolocutor.dialog.dialog import Dialog
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.pairing.measuring.retraining import retrain
from prolocutor.plugins.pairing.measuring.store_questions import label_turns, read_question_turns

_THUMBS: Final = (1, -1, True, False, 0, "up", "down")
_MOST_DIALOGS: Final = 5000
_ALL: Final = 1_000_000


def main() -> None:
    """Train as the order says, and write how it ended."""
    with suppress(OSError):
        os.nice(10)
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=TrainingOrder)
    try:
        _write(asyncio.run(_run_training(order)))
    except ProlocutorError as error:
        _write(TrainingEnd(error=str(error)))


async def _run_training(order: TrainingOrder) -> TrainingEnd:
    rated = [] if order.store is None else await read_ratings(order.store)
    return TrainingEnd(
        report=await retrain(order, rated, lambda share, what: _write(TrainingStep(share, what)))
    )


async def read_ratings(url: str) -> list[LabelledQuestion]:
    """Return the thumbs in a store, of the latest 5,000 dialogs that have any."""
    async with read_from(url) as store:
        turns = await read_question_turns(_rated_dialogs(store))
    return [one for one in label_turns(turns) if one.agents]


async def _rated_dialogs(store: ArchiveStore) -> AsyncIterator[Dialog]:
    ids: set[str] = set()
    for thumb in _THUMBS:
        ids.update(await store.dialog_ids(DialogQuery(rating=thumb, limit=_ALL)))
    for id_ in sorted(ids)[-_MOST_DIALOGS:]:
        if (dialog := await store.dialog(id_)) is not None:
            yield dialog


def _write(line: TrainingStep | TrainingEnd) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
