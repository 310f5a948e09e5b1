"""Dialogs that people really had, as episodes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prolocutor.dialog.dialog import Bot, BotUtterance, Dialog, Human, HumanUtterance
from prolocutor.plugins.evaluation.parlai.stored_dialogs import (
    StoredDialogs,
    dialog_episode,
    dialog_episodes,
)

HUMAN, BOT = Human(id="h", user_external_id="ann"), Bot(id="b")
NOW = "2026-11-20 12:00:00.000000"


def dialog(*texts: str) -> Dialog:
    """A dialog of texts; those of the assistant begin with a dash."""
    utterances: list[HumanUtterance | BotUtterance] = []
    for place, text in enumerate(texts):
        if text.startswith("-"):
            spoken = BotUtterance(
                utt_id=f"u{place}", text=text[1:], orig_text=None, active_skill="chat",
                confidence=0.5, user=BOT, date_time=NOW,
            )  # fmt: skip
            utterances.append(spoken)
        else:
            said = HumanUtterance(utt_id=f"u{place}", text=text, user=HUMAN, date_time=NOW)
            utterances.append(said)
    return Dialog(
        dialog_id="d1", id="i1", human=HUMAN, bot=BOT, channel_type="test", date_start=NOW,
        utterances=utterances,
    )  # fmt: skip


async def streamed(*dialogs: Dialog) -> AsyncIterator[Dialog]:
    for one in dialogs:
        yield one


def test_a_reply_is_the_label_of_what_was_said() -> None:
    assert dialog_episode(dialog("hi", "-hello", "time?", "-noon"))[1] == {
        "text": "time?",
        "labels": ["noon"],
        "dialog_id": "d1",
        "utt_id": "u2",
        "active_skill": "chat",
        "confidence": 0.5,
    }


def test_what_got_no_reply_goes_before_what_comes_next() -> None:
    assert [one["text"] for one in dialog_episode(dialog("hi", "there", "-hello", "bye"))] == [
        "hi\nthere"
    ]


def test_what_the_assistant_said_of_its_own_accord_is_left_out() -> None:
    episode = dialog_episode(dialog("-wake up", "hi", "-hello", "-and more"))

    assert [(one["text"], one["labels"]) for one in episode] == [("hi", ["hello"])]


async def test_dialogs_are_taken_from_an_asynchronous_stream() -> None:
    episodes = dialog_episodes(streamed(dialog("hi", "-hello"), dialog("alone")))

    assert [len(one) async for one in episodes] == [1]


def test_every_pass_opens_the_dialogs_anew_and_closes_them() -> None:
    events = []

    @asynccontextmanager
    async def opened() -> AsyncIterator[AsyncIterator[Dialog]]:
        events.append("open")
        yield streamed(dialog("hi", "-hello"), dialog("ho", "-hello"))
        events.append("close")

    source = StoredDialogs(opened, name="store:mine")
    assert [one[0]["text"] for one in source.episodes()] == ["hi", "ho"]

    cut_off = source.episodes()
    next(cut_off)
    cut_off.close()  # type: ignore[attr-defined]

    assert events == ["open", "close", "open", "close"]
    assert source.id == "store:mine"
