"""The libraries of the extra `asks`: loaded when they are needed, not before."""

import subprocess
import sys

import pytest

from prolocutor.reading import libraries

NAMES = {"dateparser", "phonenumbers", "text_to_num"}


def loaded_after(code: str) -> set[str]:
    """Run code in a process of its own, and tell which of the libraries it loaded."""
    tell = f"import sys; print(*{NAMES} & sys.modules.keys())"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\n{tell}"], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


def test_an_assistant_that_asks_for_nothing_loads_none() -> None:
    assert loaded_after("import prolocutor.assistant.assistant") == set()


def test_all_are_loaded_in_a_thread_of_their_own() -> None:
    for name in NAMES:
        pytest.importorskip(name)
    code = """
import threading
from prolocutor.reading import libraries
libraries.load_ahead()
libraries.load_ahead()
[loading] = [one for one in threading.enumerate() if one.name == "asks"]
loading.join()
"""
    assert loaded_after(code) == NAMES


def test_number_words_stay_as_they_are_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "text_to_num", lambda: None)
    assert libraries.write_digits("the sixth of june") == "the sixth of june"
