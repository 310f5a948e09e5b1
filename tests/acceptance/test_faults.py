"""Faults of commands and files, as a person sees them."""

from pathlib import Path

import pytest

from tests.acceptance.commands import Commands

FAULTY = Path(__file__).parents[1] / "data" / "faulty"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["dialogs", "list"], "there are no dialogs here"),
        (["ask", "hi", "--assistant", "nowhere.yaml"], "nowhere.yaml: there is no such file"),
        (["ask", "hi", "--store", "bogus:x"], "there is no store 'bogus'"),
        (["check", FAULTY / "tab.yaml"], "tab.yaml:3: a tab cannot indent here; use spaces"),
        (["serve", FAULTY / "tab.yaml"], "tab.yaml:3: a tab cannot indent here"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    words: list[object], what: str, commands: Commands
) -> None:
    assert what in commands.complaint(*words)


def test_check_names_every_fault_on_a_line_of_its_own(commands: Commands) -> None:
    ran = commands.run("check", FAULTY / "many.yaml")

    lines = ran.stderr.splitlines()
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert lines[0].endswith("many.yaml:1: nam: unknown key; did you mean 'name'?")
    assert len(lines) == 8
