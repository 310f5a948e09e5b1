"""The libraries of the extra `asks`, each imported at first use.

Together they take a fifth of a second. An assistant that never asks for a value never loads them;
otherwise they load while the assistant waits for the answer.
"""

from __future__ import annotations

import functools
import threading
from importlib import import_module
from types import ModuleType


@functools.cache
def load_ahead() -> None:
    """Load all installed libraries in a thread, once."""
    threading.Thread(target=_load, name="asks", daemon=True).start()


@functools.cache
def dateparser() -> ModuleType | None:
    """Return the library for dates in many languages; None if it is not installed."""
    return _import_installed("dateparser")


@functools.cache
def phonenumbers() -> ModuleType | None:
    """Return the library for phone numbers; None if it is not installed."""
    return _import_installed("phonenumbers")


@functools.cache
def text_to_num() -> ModuleType | None:
    """Return the library for number words; None if it is not installed."""
    return _import_installed("text_to_num")


def write_digits(said: str, language: str = "en") -> str:
    """Return a text with number words as digits: "the 6th of june"."""
    words = text_to_num()
    return said if words is None else str(words.alpha2digit(said, language, 0.0))


def _import_installed(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


def _load() -> None:
    """Import each library, and its own imports at first use."""
    text_to_num()
    phonenumbers()
    dates = dateparser()
    if dates is not None:
        dates.parse("6 june 2020", languages=["en"])
