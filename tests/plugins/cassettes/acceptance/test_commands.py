"""`prolocutor record` and `prolocutor test`, as people call them."""

from pathlib import Path

import pytest

from tests.acceptance.commands import Commands
from tests.plugins.cassettes.talks import write_assistant


def test_a_talk_is_recorded_tested_and_written_anew(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write_assistant(tmp_path)
    said = "Tea, please\nmy diary\ntomorrow\n"
    chat = ["--", "chat", "assistant.yaml"]
    recorded = commands.run("record", "talk.cassette", *chat, said=said)
    tested = commands.run("test", "--junit", "report.xml")
    file.write_text(file.read_text().replace("timeout: 3", "timeout: 1"))
    failed = commands.run("test", "talk.cassette")
    updated = commands.run("test", "--update")
    again = commands.run("test")

    assert recorded.stdout.startswith("Tea number 1.\nFor which day?\nNoted for ")
    assert recorded.stderr == "recorded talk.cassette\n"
    assert (tested.returncode, failed.returncode) == (0, 1), tested.stdout + tested.stderr
    assert "- within: 3.0\n      + within: 1.0" in failed.stdout
    assert "talk.cassette  updated" in updated.stdout
    assert again.returncode == 0
    assert (tmp_path / "report.xml").is_file()


def test_what_cannot_be_done_is_said_in_one_line(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_assistant(tmp_path)
    (tmp_path / "mine.cassette").write_text("{}")
    told = {
        ("record", "mine.cassette", "--", "ask", "hi"): "exists",
        ("record", "new.cassette", "--", "check", "x"): "has no conversations",
        ("test", "nowhere"): "no such file",
        ("test", "mine.cassette"): "version 1",
        ("test", "--faults", "latte", "mine.cassette"): "there is no fault 'latte'",
    }

    for words, what in told.items():
        done = commands.run(*words)
        assert what in done.stdout + done.stderr
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr
