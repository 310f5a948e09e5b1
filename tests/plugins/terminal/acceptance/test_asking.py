"""`prolocutor ask` and `chat` as a person uses them."""

import json
import os
import pty
import subprocess
from pathlib import Path

from tests.acceptance.commands import PROGRAM, Commands, Terminal


def test_ask_prints_the_reply_of_the_demo_and_nothing_else(commands: Commands) -> None:
    assert commands.output("ask", "what is 15% of 80?") == "15% of 80 = 12"


def test_a_double_question_gets_one_reply_from_two_agents(
    commands: Commands, tmp_path: Path
) -> None:
    text = "what's 15% of 80 and what time is it in Tokyo?"

    commands.output("ask", text, "--json", tmp_path / "turn.json")

    turn = json.loads((tmp_path / "turn.json").read_text())
    assert [id_.split(".")[0] for id_ in turn["record"]["chosen"]] == ["calculator", "clock"]
    assert "12" in turn["reply"]["text"]
    assert "Tokyo" in turn["reply"]["text"]
    assert not [service for service in turn["record"]["services"] if service["outcome"] != "done"]


def test_what_was_said_is_known_to_the_next_question(commands: Commands, own: Path) -> None:
    commands.output("ask", "my name is Ann", "--assistant", own)

    assert commands.output("ask", "hello", "--assistant", own) == "Hello, Ann!"
    assert commands.output("ask", "hello", "--assistant", own, "--user", "ben") == (
        "Hello! What is your name?"
    )


def test_ask_takes_the_question_from_stdin(commands: Commands, own: Path) -> None:
    assert commands.output("ask", "-", "--assistant", own, said="say abc backwards\n") == "cba"


def test_ask_writes_the_whole_turn_to_stdout(commands: Commands, own: Path) -> None:
    turn = json.loads(commands.output("ask", "hello", "--assistant", own, "--json"))

    assert turn["reply"]["active_skill"] == "greeter"
    assert turn["hypotheses"][0]["hypothesis_id"] == "greeter.0"
    assert turn["record"]["asked"] == ["greeter", "mirror"]
    assert turn["annotations"] == {}


def test_chat_answers_line_by_line_and_tells_who_answered(commands: Commands, own: Path) -> None:
    said = "hello\n/who\n/new\n/who\nsay abc backwards\n/nonsense\n/quit\nhello\n"

    lines = commands.output("chat", own, said=said).splitlines()

    assert lines[0] == "Hello! What is your name?"
    assert lines[1].startswith("greeter answered, confidence 0.9, in ")
    assert lines[2].split("\t")[:3] == ["greeter", "answered", "0.9"]
    assert lines[3].split("\t")[:2] == ["mirror", "done"]
    assert lines[4:8] == [
        "A new dialog.",
        "Nobody was asked yet.",
        "cba",
        "There is no /nonsense here.",
    ]
    assert lines[-1].startswith("/quit")


def test_new_in_a_chat_begins_another_dialog(commands: Commands, own: Path) -> None:
    commands.output("chat", own, said="hello\n/new\nhello\n")

    listed = commands.output("dialogs", "list", "--store", own).splitlines()

    assert [line.split("\t")[3] for line in listed] == ["1", "1"]


def test_chat_in_a_terminal_remembers_what_was_typed(commands: Commands, own: Path) -> None:
    ours, theirs = pty.openpty()
    environ = {**os.environ, "XDG_DATA_HOME": str(commands.folder), "TERM": "dumb"}
    with subprocess.Popen(
        [PROGRAM, "chat", own], stdin=theirs, stdout=theirs, stderr=theirs, env=environ
    ) as chat:
        os.close(theirs)
        terminal = Terminal(ours)
        terminal.wait_for("> ")
        terminal.type("say abc backwards")
        terminal.wait_for("cba")
        terminal.type("/who")
        terminal.wait_for("mirror answered")
        terminal.type("/quit")
    os.close(ours)

    assert chat.returncode == 0
    history = (commands.folder / "prolocutor" / "chat_history").read_text()
    assert "say abc backwards" in history
