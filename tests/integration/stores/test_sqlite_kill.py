"""Killed at any moment, a writing process loses nothing that it had confirmed."""

import random
import subprocess
import sys
from pathlib import Path
from threading import Timer

from prolocutor.dialog import plain
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.sample_turns import a_closing, open_new_turn

KILLS = 6
PEOPLE = 8

WRITE = """
import asyncio, sys
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.sample_turns import a_closing, open_new_turn

async def person(store, user):
    n = 0
    while True:
        begun = await open_new_turn(store, user, f"q{n}", window=2)
        print("begun", user, begun.opening.utt_id, flush=True)
        await store.close_turn(a_closing(begun, f"a{n}", human_attributes={"last": n}))
        print("finished", user, begun.opening.bot_utt_id, flush=True)
        n += 1

async def main():
    store = SqliteStore(sys.argv[1])
    await store.open()
    for turn in await store.unfinished_turns():
        await store.close_turn(a_closing(await store.resume_turn(turn.turn_id, 2, 0), "cut off"))
    await asyncio.gather(*(person(store, f"u{n}") for n in range(int(sys.argv[2]))))

asyncio.run(main())
"""


async def test_nothing_that_was_confirmed_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "dialogs.db"
    chance = random.Random(4242)
    confirmed: dict[str, set[str]] = {"begun": set(), "finished": set()}
    for _ in range(KILLS):
        for kind, _, utt_id in killed_after(chance.uniform(0.02, 0.3), path):
            confirmed[kind].add(utt_id)

    store = SqliteStore(path)
    await store.open()
    kept = {"begun": set(), "finished": set()}
    for turn in await store.unfinished_turns():
        resumed = await store.resume_turn(turn.turn_id, 2, 0)
        kept["begun"].add(resumed.opening.utt_id)
    async for dialog in store.export():
        kept["begun"] |= {utterance.utt_id for utterance in dialog.utterances[::2]}
        kept["finished"] |= {utterance.utt_id for utterance in dialog.utterances[1::2]}
        feed = await store.feed(dialog.human.user_external_id, 0, 100_000)
        assert [row.n for row in feed] == list(range(1, len(feed) + 1))
        ends = dialog.utterances[-2:]
        assert not ends or ends[0].user == dialog.human
        after = await open_new_turn(store, dialog.human.user_external_id, "after", window=2)
        assert [plain.decode(utterance.state)["utt_id"] for utterance in after.window] == [
            u.utt_id for u in ends
        ]
        await store.close_turn(a_closing(after))
    await store.aclose()

    assert len(confirmed["finished"]) > 50
    assert confirmed["begun"] - kept["begun"] == set()
    assert confirmed["finished"] - kept["finished"] == set()


def killed_after(seconds: float, path: Path) -> list[list[str]]:
    """Run the writing process, kill it so long after its first word, and give its whole lines."""
    process = subprocess.Popen([sys.executable, "-c", WRITE, str(path), str(PEOPLE)], text=True,
                               stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    said = process.stdout.readline()
    timer = Timer(seconds, process.kill)
    timer.start()
    said += process.stdout.read()
    timer.join()
    process.wait()
    process.stdout.close()
    whole, _, _ = said.rpartition("\n")
    return [line.split() for line in whole.splitlines()]
