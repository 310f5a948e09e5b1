"""A dump of dialogs that DeepPavlov Agent's own classes stored, as mongoexport would write it.

    bench/.peers/dp-agent/bin/python bench/peers/dp_dump.py FOLDER [--utterances 100000]

Its state manager makes persons, dialogs of ten turns, hypotheses, attributes and ratings and
saves each turn; a dictionary stands in for MongoDB (`dp_database.py`), and each document is written
with the driver's own functions. `--form` is canonical, relaxed or legacy Extended JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from pathlib import Path
from typing import Any

import dp_database

dp_database.install()

from bson import json_util  # noqa: E402
from deeppavlov_agent.core.state_manager import StateManager  # noqa: E402

COLLECTIONS = ("user", "bot", "dialog", "human_utterance", "bot_utterance")
FORMS = {
    "canonical": json_util.CANONICAL_JSON_OPTIONS,
    "relaxed": json_util.RELAXED_JSON_OPTIONS,
    "legacy": json_util.LEGACY_JSON_OPTIONS,
}
TURNS = 10
SKILLS = ("dummy_skill", "dff_food_skill", "dialogpt")


async def fill(database: Any, utterances: int) -> None:
    """Let persons talk, half of them in two dialogs, until there are so many utterances."""
    manager, chance = StateManager(database), random.Random(1)
    for number in range(utterances // (2 * TURNS)):
        user = f"user-{number - number % 3 // 2}"
        for turn in range(TURNS):
            dialog = await manager.get_or_create_dialog(user, "http_client")
            await say(manager, dialog, f"words {turn} of {user}", chance)
        if chance.random() < 0.2:
            await manager.set_rating_dialog(user, dialog.dialog_id, chance.randint(1, 5))
            await manager.set_rating_utterance(user, dialog.utterances[-1].utt_id, "good")
        await manager.drop_active_dialog(user)


async def say(manager: Any, dialog: Any, text: str, chance: random.Random) -> None:
    """Add a turn to a dialog and save it."""
    await manager.add_human_utterance(dialog, text, "input", message_attrs={"device": "phone"})
    topics = {"text": ["Phatic"], "confidence": chance.random()}
    await manager.add_annotation(dialog, topics, "cobot_topics")
    offers = [{"text": f"reply of {one}", "confidence": chance.random()} for one in SKILLS]
    for skill, offer in zip(SKILLS, offers, strict=True):
        await manager.add_hypothesis(dialog, [offer], skill)
    skill, offer = max(zip(SKILLS, offers, strict=True), key=lambda one: one[1]["confidence"])
    learned = {"last_skill": skill, "seen": len(dialog.utterances)}
    reply = {**offer, "skill_name": skill, "human_attributes": learned}
    await manager.add_bot_utterance(dialog, reply, "response_selector")
    await manager.save_dialog(dialog, None, "responder")


async def everything(collection: Any) -> list[Any]:
    """Return all documents of a collection, as the driver reads them."""
    return [document async for document in collection.find()]


def main() -> None:
    """Write the dump."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--utterances", type=int, default=100_000)
    parser.add_argument("--form", choices=FORMS, default="relaxed")
    given = parser.parse_args()
    database = dp_database.Client("", 0, through_bson=True)["dream-dev"]
    asyncio.run(fill(database, given.utterances))
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in COLLECTIONS:
        with (given.folder / f"{name}.json").open("w") as file:
            for document in asyncio.run(everything(database[name])):
                print(json_util.dumps(document, json_options=FORMS[given.form]), file=file)


if __name__ == "__main__":
    main()
