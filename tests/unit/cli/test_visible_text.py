"""Words of others on a terminal: they cannot move its cursor or turn its lines around."""

import pytest

from prolocutor.cli.output import visible


@pytest.mark.parametrize("sign", ["\x1b", "\x7f", "\x9b", "\r", "\u202e", "\u2066"])
def test_a_character_that_a_terminal_obeys_is_shown_as_a_space(sign: str) -> None:
    assert visible(f"a{sign}[2Jb") == "a [2Jb"


@pytest.mark.parametrize("text", ["two\nlines", "a\tb", "👩\u200d🔬", "می\u200cخواهم"])
def test_line_ends_tabs_and_joiners_stay(text: str) -> None:
    assert visible(text) == text
