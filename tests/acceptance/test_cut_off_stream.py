"""Words that were shown before a kill are void; the same key gets the stored reply."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("streaming_child.py")
PATIENCE = 60.0


async def listen(store: str, how: str, until: str) -> list[dict[str, Any]]:
    """Run the program until an event of this type, then kill it; return the events."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM), store, how, stdout=PIPE
    )
    assert child.stdout is not None
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        while not seen or seen[-1]["type"] != until:
            seen.append(json.loads(await child.stdout.readline()))
        child.kill()
        await child.wait()
    return seen


async def test_words_before_a_kill_are_void_and_the_key_gets_the_stored_reply(
    tmp_path: Path,
) -> None:
    store = f"sqlite:///{tmp_path}/dialogs.db"

    shown = await listen(store, "hangs", "Delta")
    again = await listen(store, "answers", "ReplyGiven")
    stored = await listen(store, "hangs", "ReplyGiven")

    reply = again[-1]["utterance"]
    assert shown[-1]["text"] == "Roses are "
    assert again[-1]["turn_id"] == shown[0]["turn_id"]
    assert reply["text"] == "Roses are red after all."
    assert [one["type"] for one in stored] == ["ReplyGiven"]
    assert stored[0]["utterance"] == reply
    assert stored[0]["repeated"]
