"""Dialogs that people write: how they are read, and what they expect."""

from pathlib import Path

import pytest

from prolocutor.config.yaml_file import ConfigFaults
from prolocutor.plugins.cassettes.cassette import RecordedReply
from prolocutor.plugins.cassettes.expectations import (
    broken_expectations,
    is_dialogs,
    read_dialogs,
)

REPLY = RecordedReply(reply="Green tea takes 3 minutes.", agent="tea", asks="number")


@pytest.mark.parametrize(
    ("step", "broken"),
    [
        ("reply: TAKES 3", []),
        ("reply: {contains: [green, minutes]}", []),
        ("reply: {contains: coffee}", ["the reply contains 'coffee'"]),
        ("reply: {matches: '\\d+ minutes'}", []),
        ("reply: {matches: '^\\d'}", ["the reply matches /^\\d/"]),
        ("reply: {equals: Green tea takes 3 minutes.}", []),
        ("reply: {equals: [No., Green tea takes 3 minutes.]}", []),
        ("reply: {equals: green tea}", ["the reply equals 'green tea'"]),
        ("agent: tea", []),
        ("agent: [clock, tea]", []),
        ("agent: clock", ["clock speaks, not tea"]),
        ("agent: assistant", ["assistant speaks, not tea"]),
        ("asks: number", []),
        ("asks: nothing", ["it asks for nothing, not for number"]),
        ("asks: date", ["it asks for date, not for number"]),
        ("within: 2s", []),
        ("within: 500ms", ["the reply is there within 0.5 s, not after 1.00 s"]),
        ("never: sorry", []),
        ("never: [sorry, GREEN]", ["the reply never contains 'GREEN'"]),
    ],
)
def test_a_reply_keeps_or_breaks_what_is_expected(
    step: str, broken: list[str], tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(f"tea:\n  - say: how long?\n    {step}\n")
    dialog = read_dialogs(tmp_path / "a.yaml").dialogs["tea"]

    found = broken_expectations(dialog.turns[0], dialog, REPLY, 1.0)

    assert [*found] == broken


def test_what_stands_without_words_holds_for_all_replies(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- say: hello\n- never: minutes\n- within: 1s\n")
    dialog = read_dialogs(tmp_path / "a.yaml").dialogs["a"]

    found = [*broken_expectations(dialog.turns[0], dialog, REPLY, 3.0)]

    assert len(found) == 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tea:\n  - sya: hello\n    reply: x\n  - say: x\n", "3?.*sya: unknown key; did you mean"),
        ("- say: hello\n  within: soon\n", ":2: .*within.*seconds or a time"),
        ("- say: hello\n  reply: {matches: '('}\n", r"'\(' is not a pattern"),
        ("- say: [hello]\n", ":1: .*say: expected a text"),
        ("dialogs: 7\n", "dialogs"),
        ("- say: {a: b\n", "a.yaml:"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(
    text: str, fault: str, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(text)

    with pytest.raises(ConfigFaults, match=fault):
        read_dialogs(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("- say: hello\n", True),
        ("tea:\n  - say: hello\n", True),
        ("dialogs: {}\n", True),
        ("skills: {a: 'm:f'}\n", False),
        ("- 1\n- 2\n", False),
        ("", False),
    ],
)
def test_dialogs_are_told_from_other_yaml(text: str, known: bool, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)

    assert is_dialogs(tmp_path / "a.yaml") is known
