"""Stored conversations become tests: a cassette of what skills said, and a dialog in YAML."""

import json
from pathlib import Path

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.errors import BadInput
from prolocutor.plugins.cassettes.cassette import CassetteWriter
from prolocutor.plugins.cassettes.door import dialog_text, make_cassette
from prolocutor.plugins.cassettes.expectations import read_dialogs
from tests.plugins.cassettes.talks import SAID, outcomes, write_assistant


async def kept(file: Path, said: list[str], until: int | None = None) -> tuple[bytes, str]:
    """Return the cassette and the YAML of a conversation that was had, and only stored."""
    async with Assistant.from_file(file, store="memory:") as assistant:
        turns = [await assistant.turn(words, "ann") for words in said]
        dialog = await assistant.store.dialog(turns[0].dialog_id)
        assert dialog is not None
        last = None if until is None else turns[until].reply.utt_id
        pipeline = assistant.engine.prepared.graph.pipeline
        cassette = make_cassette(dialog, pipeline, until=last, assistant=file.name)
    return CassetteWriter.file_content(cassette), dialog_text(cassette, "kept")


async def test_a_kept_conversation_is_had_again_without_its_agents(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    lines, _ = await kept(file, [*SAID, "my diary", "tomorrow"])
    (tmp_path / "kept.cassette").write_bytes(lines)
    agents = (tmp_path / "agents.py").read_text()
    (tmp_path / "broken.py").write_text(agents.replace("next(served)", "1 / 0"))
    file.write_text(file.read_text().replace("agents:tea", "broken:tea"))

    (outcome,) = await outcomes(tmp_path / "kept.cassette")

    assert outcome.status == "passed"
    assert outcome.details == []
    assert outcome.turns == 7


async def test_another_reply_is_found(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    lines, _ = await kept(file, SAID)
    (tmp_path / "kept.cassette").write_bytes(lines)
    file.write_text(file.read_text().replace("I only know about tea.", "Nobody knows."))

    (outcome,) = await outcomes(tmp_path / "kept.cassette")

    assert '+ "Nobody knows."' in "\n".join(outcome.details)


async def test_a_turn_is_kept_with_all_that_came_before_it(tmp_path: Path) -> None:
    lines, text = await kept(write_assistant(tmp_path), SAID, until=1)
    (tmp_path / "kept.yaml").write_text(text)

    said = [json.loads(line).get("says") for line in lines.splitlines()]
    steps = read_dialogs(tmp_path / "kept.yaml").dialogs["kept"].turns

    assert [one for one in said if one] == SAID[:2]
    assert [step.say for step in steps] == SAID[:2]
    assert steps[0].agent == ["tea"]


async def test_a_conversation_in_which_nobody_said_anything_is_refused(tmp_path: Path) -> None:
    async with Assistant.from_file(write_assistant(tmp_path), store="memory:") as assistant:
        turn = await assistant.turn("TEA", "ann")
        dialog = await assistant.store.dialog(turn.dialog_id)
        assert dialog is not None
        dialog.utterances.clear()

        with pytest.raises(BadInput, match="nothing to keep"):
            make_cassette(dialog, assistant.engine.prepared.graph.pipeline)
