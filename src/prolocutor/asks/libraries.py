"""The libraries of the extra `asks`, each None where it is not installed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def _installed(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


dateparser = _installed("dateparser")
phonenumbers = _installed("phonenumbers")
text_to_num = _installed("text_to_num")
