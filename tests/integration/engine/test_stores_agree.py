"""The same conversation leaves the same agent state, whatever store keeps it."""

from pathlib import Path
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.dialog import plain
from prolocutor.dialog.agent_state import dialog_to_state, encode_dialog
from prolocutor.testing.fake_service import FakeService
from tests.unit.pipeline.talk import hypothesis

IDS = {"dialog_id", "_id", "id", "utt_id"}
TIMES = {"date_start", "date_finish", "date_time"}
DEEP: Any = "bottom"
for _ in range(60):
    DEEP = [DEEP]


def pipeline() -> Pipeline:
    def chat(request: Any) -> Any:
        turn = len(request["human_utterances"])
        text = request["utterances"][-1]["text"]
        human = {"name": text, "turns": turn, "persona": [text], "flags": [turn > 1, 0.5, None]}
        return [
            hypothesis(f"re: {text}", 0.0, human_attributes=human, bot_attributes={"said": text}),
            hypothesis("lost", -1, human_attributes={"lost": True}, own={"key": text}),
        ]

    return Pipeline(
        annotators=[
            Service("ner", FakeService({"tokens": ["Paris"]})),
            Service("deep", FakeService(DEEP)),
            Service("broken", FakeService(ValueError("no"))),
        ],
        skills=[Service("chat", FakeService(chat), window=None)],
        candidate_annotators=[Service("toxic", FakeService(lambda r: r["hypothesis"]["text"]))],
        postprocessors=[Service("post", FakeService(lambda r: r["utterances"][-1]["text"] + "!"))],
        response_annotators=[Service("after", FakeService([1, 1.5, "x"]))],
    )


def without_ids_and_times(state: Any) -> Any:
    if isinstance(state, dict):
        return {
            key: "" if key in IDS or (key in TIMES and value) else without_ids_and_times(value)
            for key, value in state.items()
        }
    return [without_ids_and_times(one) for one in state] if isinstance(state, list) else state


async def talk(store: str, *, restart: bool) -> Any:
    """Say some things; give the state of both dialogs without what differs each time."""
    said = ["hi", "", "\x00\u2028🦜", "Ünïcödé", "'; drop table dialogs; --", "bye"]
    ids: list[str] = []
    assistant = Assistant(pipeline(), store=store)
    await assistant.start()
    for position, text in enumerate(said):
        if restart and position:
            await assistant.aclose()
            assistant = Assistant(pipeline(), store=store)
            await assistant.start()
        result = await assistant.turn(text, user="ann", attributes={"n": position})
        ids.append(result.dialog_id)
        if position == 3:
            await assistant.archive.close("ann")
    states = []
    for dialog_id in dict.fromkeys(ids):
        dialog = await assistant.store.dialog(dialog_id)
        assert dialog is not None
        assert plain.decode(encode_dialog(dialog)) == dialog_to_state(dialog)
        states.append(without_ids_and_times(dialog_to_state(dialog)))
    feed = [without_ids_and_times(plain.decode(row.message)) for row in await all_rows(assistant)]
    await assistant.aclose()
    return states, feed


async def all_rows(assistant: Assistant) -> Any:
    return await assistant.store.feed("ann", 0)


@pytest.mark.parametrize("restart", [False, True])
async def test_stores_keep_the_same_state(tmp_path: Path, restart: bool) -> None:
    kept = await talk(f"sqlite:///{tmp_path}/dialogs.db", restart=restart)
    assert kept == await talk("memory:", restart=False)


async def test_ids_do_not_change_from_the_first_moment_on(tmp_path: Path) -> None:
    witness = FakeService(hypothesis())
    store = f"sqlite:///{tmp_path}/dialogs.db"
    for text in ("one", "two"):
        async with Assistant(Pipeline(skills=[Service("chat", witness)]), store=store) as assistant:
            result = await assistant.turn(text, user="ann")
            dialog = await assistant.store.dialog(result.dialog_id)
    assert dialog is not None
    for shown in witness.requests:
        assert shown["dialog_id"] == dialog.dialog_id
        assert shown["_id"] == dialog.id
        assert shown["human"]["id"] == dialog.human.id
        assert shown["bot"]["id"] == dialog.bot.id
        assert shown["date_start"] == dialog.date_start
    stored = [utterance.utt_id for utterance in dialog.utterances]
    assert [utterance["utt_id"] for utterance in witness.requests[1]["utterances"]] == stored[:3]
    assert all(len(bytes.fromhex(one)) == 16 for one in [dialog.dialog_id, dialog.id, *stored])
