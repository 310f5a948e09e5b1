"""A recorded conversation is had again without agents, and what has changed is found."""

import json
from pathlib import Path

import pytest

from tests.plugins.cassettes.talks import ASSISTANT, SAID, outcomes, record, write_assistant


async def test_a_conversation_is_the_same_again_and_no_agent_is_asked(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    await record(file, *SAID)
    agents = (tmp_path / "agents.py").read_text()
    (tmp_path / "agents.py").write_text(agents.replace("next(served)", "1 / 0"))

    (outcome,) = await outcomes(tmp_path / "talk.cassette")

    assert outcome.status == "passed"
    assert outcome.details == []
    assert outcome.turns == 5


CHANGES = {
    "another function is asked": ("agents:clock", "agents:tea", "address of skills.clock"),
    "a time-out": ("timeout: 3", "timeout: 1", "within: 3.0"),
    "a formatter is lost": (", formatter: agents:last_words", "", "request to skills.tea"),
    "a skill is left out": ("  diary: {call: agents:diary}\n", "", "of skills.diary"),
    "a skill is renamed": ("  clock:", "  watch:", "calls of skills.clock: it was asked"),
    "a window": ("timeout: 3", "timeout: 3, window: 1", "request to skills.clock"),
    "a fallback": ("I only know about tea.", "Nobody knows.", "reply text"),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_assistant_is_found(change: str, tmp_path: Path) -> None:
    before, after, told = CHANGES[change]
    file = write_assistant(tmp_path)
    await record(file, *SAID)
    assert before in ASSISTANT
    file.write_text(ASSISTANT.replace(before, after))

    (outcome,) = await outcomes(tmp_path / "talk.cassette")

    assert outcome.status == "failed"
    assert told in "\n".join(outcome.details)


async def test_the_assistants_own_functions_run_in_a_replay(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    await record(file, *SAID)
    other = (tmp_path / "agents.py").read_text().replace('["tea", "clock", "diary"]', '["clock"]')
    (tmp_path / "others.py").write_text(other)
    file.write_text(ASSISTANT.replace("agents:route", "others:route"))

    (outcome,) = await outcomes(tmp_path / "talk.cassette")

    assert "calls of skills.tea: it was asked when this was recorded" in outcome.details[1]


async def test_tomorrow_stays_the_day_after_the_recording(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    cassette = await record(file, "my diary", "tomorrow")
    path = tmp_path / "talk.cassette"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    noted = cassette.turns[1].reply.reply
    day = noted.removeprefix("Noted for ").removesuffix(".")
    for line in lines:
        if "at" in line:
            line["at"] -= 40 * 86_400
    path.write_text("\n".join(map(json.dumps, lines)))

    (outcome,) = await outcomes(path)

    told = "\n".join(outcome.details)
    assert "turn 2, request to skills.diary" in told
    assert f'- answer.value: "{day}"' in told


async def test_update_writes_a_cassette_anew_and_keeps_what_people_wrote(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    await record(file, *SAID)
    path = tmp_path / "talk.cassette"
    path.write_text(path.read_text().replace('"cassette":1', '"cassette":1,"ignore":{"*":["x"]}'))
    file.write_text(ASSISTANT.replace("I only know about tea.", "Nobody knows."))

    (updated,) = await outcomes(path, update=True)
    (outcome,) = await outcomes(path)

    assert updated.status == "updated"
    assert outcome.status == "passed"
    assert '"ignore":{"*":["x"]}' in path.read_text()


async def test_members_that_may_differ_are_ignored(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    await record(file, "Tea, please")
    path = tmp_path / "talk.cassette"
    ignored = '"cassette":1,"ignore":{"skills.tea":["words"]}'
    text = path.read_text().replace('"cassette":1', ignored)
    path.write_text(text.replace('{"words":"Tea, please"}', '{"words":"Coffee"}'))

    (outcome,) = await outcomes(path)

    assert outcome.details == []


async def test_a_service_that_is_live_is_asked_itself(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    await record(file, "Tea, please")

    (outcome,) = await outcomes(tmp_path / "talk.cassette", live=("tea",))

    assert '+ "Tea number ' in outcome.details[0]


async def test_a_cassette_without_an_assistant_says_what_to_do(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    await record(file, "Tea, please")
    file.unlink()

    (outcome,) = await outcomes(tmp_path / "talk.cassette")

    assert outcome.status == "error"
    assert "assistant.yaml" in outcome.details[0]


@pytest.mark.parametrize(("time_out", "deadline"), [(1, 5), (3, 2)])
async def test_a_reply_that_would_come_too_late_now_is_late_and_nobody_waits(
    time_out: int, deadline: int, tmp_path: Path
) -> None:
    file = write_assistant(tmp_path)
    await record(file, "what does the clock say?")
    path = tmp_path / "talk.cassette"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line.get("call") == "skills.clock":
            line["took"] = 2.5
    path.write_text("\n".join(map(json.dumps, lines)))
    (as_it_was,) = await outcomes(path)
    text = ASSISTANT.replace("timeout: 3", f"timeout: {time_out}")
    file.write_text(f"{text}deadline: {deadline}\n")

    (outcome,) = await outcomes(path)

    assert as_it_was.details == []
    assert '+ skills.clock: "late"' in "\n".join(outcome.details)


async def test_a_function_of_the_assistant_that_was_late_is_late_again(tmp_path: Path) -> None:
    file = write_assistant(tmp_path)
    await record(file, "coffee")
    path = tmp_path / "talk.cassette"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[-1]["failed"] = {"annotators.mood": "late"}
    for line in lines:
        annotated = json.dumps(line).replace('{"mood": {"loud": false}}', "{}")
        line.update(json.loads(annotated))
    path.write_text("\n".join(map(json.dumps, lines)))

    (outcome,) = await outcomes(path)

    assert outcome.details == []
