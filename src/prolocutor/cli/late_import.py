"""Late imports: what a command needs is imported when it runs, not when it is explained."""

from __future__ import annotations

import importlib
from typing import Any


def imported(place: str) -> Any:
    """Import `module:name`, a place in this package, and return what is there."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
