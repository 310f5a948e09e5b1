import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner import rate
from prolocutor.errors import NotFound
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.upkeep.dialogs_command import head, list_row, plain, transcript
from prolocutor.plugins.upkeep.store_changes import full_id


def echo(request: dict[str, object]) -> list[dict[str, object]]:
    return [{"text": "so I hear", "confidence": 0.5}]


PIPELINE = Pipeline(skills=[Service("echo", echo, inline=True)])


async def test_the_beginning_of_an_id_is_enough_if_it_is_no_others() -> None:
    async with Assistant(PIPELINE, store="memory:") as assistant:
        first = (await assistant.turn("hi", user="ann")).dialog_id
        second = (await assistant.turn("hi", user="ben")).dialog_id

        assert await full_id(assistant.store, first[:-3]) == first
        assert await full_id(assistant.store, second) == second
        assert await full_id(assistant.store, "unknown") == "unknown"
        with pytest.raises(NotFound, match="several dialogs"):
            await full_id(assistant.store, first[:4])


async def test_a_dialog_is_summed_up_and_written_down() -> None:
    async with Assistant(PIPELINE, store="memory:") as assistant:
        turn = await assistant.turn("hi\tthere\nyou", user="ann")
        await rate(assistant.store, turn.human_utt_id, 4)
        dialog = await assistant.store.dialog(turn.dialog_id)

    assert dialog is not None
    assert plain([list_row(dialog)])[0].split("\t")[2:] == ["ann", "1", "echo", "", "hi there you"]
    assert head(dialog).startswith(f"dialog {dialog.dialog_id} of ann, started ")
    asked, replied = (line.plain for line in transcript(dialog, ids=True))
    assert asked.startswith(f"{turn.human_utt_id}  ")
    assert asked.endswith("ann   hi\tthere\nyou  (rated 4)")
    assert replied.endswith("echo  so I hear  (0.5)")
