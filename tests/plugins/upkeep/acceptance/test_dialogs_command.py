"""`prolocutor dialogs` as a person uses it."""

import json
from pathlib import Path

from prolocutor.dialog.agent_state import decode_dialog
from tests.acceptance.commands import Commands


def test_a_dialog_is_listed_shown_rated_exported_and_deleted(
    commands: Commands, own: Path, tmp_path: Path
) -> None:
    def dialogs(*words: object) -> str:
        return commands.output("dialogs", *words, "--store", own)

    commands.output("chat", own, "--user", "ann", said="hello\nsay abc backwards\n")
    commands.output("ask", "hello", "--assistant", own, "--user", "ben")

    id_, started, *rest = dialogs("list", "--user", "ann").split("\t")
    assert rest == ["ann", "2", "greeter, mirror", "", "hello"]

    shown = dialogs("show", id_[:-4], "--ids").splitlines()
    assert shown[0].startswith(f"dialog {id_} of ann, started {started}")
    assert [line.split()[2] for line in shown[1:]] == ["ann", "greeter", "ann", "mirror"]
    assert shown[4].endswith("cba  (0.95)")

    assert dialogs("rate", id_, "5") == f"The dialog {id_} is rated 5."
    assert dialogs("list", "--rating", "5").startswith(id_)
    assert dialogs("list", "--skill", "mirror").startswith(id_)
    assert dialogs("list", "--since", "1d", "--limit", "1").split("\t")[2] == "ben"
    assert dialogs("list", "--until", "1d") == ""

    dialogs("export", "--out", tmp_path / "all.jsonl")
    exported = [decode_dialog(line) for line in (tmp_path / "all.jsonl").read_bytes().splitlines()]
    assert [dialog.human.user_external_id for dialog in exported] == ["ann", "ben"]
    assert exported[0].rating == 5
    assert json.loads(dialogs("export", "--user", "ben"))["rating"] is None

    assert dialogs("delete", "--older-than", "1d", "--yes") == ("0 dialogs are deleted.")
    dialogs("delete", "--user", "ann", "--yes")
    assert dialogs("list").split("\t")[2] == "ben"


def test_nothing_is_deleted_without_a_yes(commands: Commands, own: Path) -> None:
    commands.output("ask", "hello", "--assistant", own)

    asked = commands.run("dialogs", "delete", "--store", own, "--user", "local", said="n\n")

    assert asked.stdout == "Nothing is deleted.\n"
    assert "Delete everything of local?" in asked.stderr
    assert commands.output("dialogs", "list", "--store", own).split("\t")[2] == "local"


def test_an_unknown_id_is_one_clear_line(commands: Commands, own: Path) -> None:
    commands.output("ask", "hello", "--assistant", own)

    assert "no dialog has the id 0badc0de" in commands.complaint(
        "dialogs", "show", "--store", own, "0badc0de"
    )
    assert "no dialog or utterance has the id" in commands.complaint(
        "dialogs", "rate", "--store", own, "0b", "5"
    )
    assert "nobody is called eve" in commands.complaint(
        "dialogs", "delete", "--store", own, "--user", "eve", "--yes"
    )
