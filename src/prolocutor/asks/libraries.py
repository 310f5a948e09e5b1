"""The libraries of the extra `asks`, each None where it is not installed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def in_digits(said: str) -> str:
    """Write English number words as digits, "the sixth of june" as "the 6th of june"."""
    return said if text_to_num is None else str(text_to_num.alpha2digit(said, "en", 0.0))


def _installed(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


dateparser = _installed("dateparser")
phonenumbers = _installed("phonenumbers")
text_to_num = _installed("text_to_num")
