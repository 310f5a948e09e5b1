import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner import rate
from prolocutor.errors import NotFound
from prolocutor.plan.pipeline import Pipeline, Service


def echo(request: dict[str, object]) -> list[dict[str, object]]:
    return [{"text": "so I hear", "confidence": 0.5}]


PIPELINE = Pipeline(skills=[Service("echo", echo, inline=True)])


async def test_an_id_is_rated_whatever_it_is_of() -> None:
    async with Assistant(PIPELINE, store="memory:") as assistant:
        turn = await assistant.turn("hi", user="ann")

        assert await rate(assistant.store, turn.dialog_id, 5) == "dialog"
        assert await rate(assistant.store, turn.human_utt_id, "fine") == "utterance"
        with pytest.raises(NotFound, match="prolocutor dialogs list"):
            await rate(assistant.store, "0" * 32, 5)

        dialog = await assistant.store.dialog(turn.dialog_id)
    assert dialog is not None
    assert dialog.rating == 5
    assert dialog.utterances[0].attributes["ratings"][0]["rating"] == "fine"
