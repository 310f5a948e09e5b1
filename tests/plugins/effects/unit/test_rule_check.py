"""What a check warns of where a file has skills that act."""

from pathlib import Path

import pytest

from prolocutor.config.file_check import check

CHAT = "  chat: http://h/c\n"
SELECTOR = "skill_selector: http://h/s\n"


def warnings(tmp_path: Path, skill: str, more: str = "") -> list[str]:
    file = tmp_path / "assistant.yaml"
    file.write_text(f"skills:\n  bank: {{call: http://h/b, acts: true{skill}}}\n{more}")
    said = "\n".join(check(file, environ={}).lines())
    words = ("nothing says when a person wants it", "is sent all that people say")
    return [word for word in words if word in said]


@pytest.mark.parametrize("more", ["", CHAT])
def test_a_skill_of_which_nothing_says_when_it_is_meant_is_named(tmp_path: Path, more: str) -> None:
    found = warnings(tmp_path, ", approve: person", more)

    assert found == ["nothing says when a person wants it"]


def test_a_skill_that_acts_beside_others_is_named_where_nobody_selects(tmp_path: Path) -> None:
    assert warnings(tmp_path, "", CHAT) == ["is sent all that people say"]


@pytest.mark.parametrize(
    ("skill", "more"),
    [
        ("", ""),
        ("", CHAT + SELECTOR),
        (", approve: person", CHAT + SELECTOR),
        (", approve: person, preview: http://h/p", CHAT),
        (", preview: http://h/p", CHAT),
    ],
)
def test_a_preview_or_a_selector_is_enough(tmp_path: Path, skill: str, more: str) -> None:
    assert warnings(tmp_path, skill, more) == []
