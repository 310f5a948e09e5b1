"""Public kits and fakes for authors of plug-ins and assistants.

Plug-ins add names by entry points of the group `prolocutor.testing`, such as `CassetteRecorder`.
"""

from __future__ import annotations

from typing import Any, Final

from prolocutor.catalog import Catalog

_NAMES: Final = Catalog[Any]("name", "prolocutor.testing")


def __getattr__(name: str) -> Any:
    """Return the plug-in's object of this name."""
    if name.startswith("_") or name not in _NAMES:
        raise AttributeError(f"prolocutor.testing has no attribute {name!r}")
    return _NAMES.load(name)
