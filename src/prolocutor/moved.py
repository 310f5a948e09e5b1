"""Moved modules: old paths go on working, by entry points of the group `prolocutor.moved`.

An entry is an old path and the new one, `old = "new"`; modules below it move along. Importing an
old path warns. An old path that stays beside the new path has the extra `[stays]` and does not
warn. A single name of a module moves by `module.name = "new:name"`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

GROUP = "prolocutor.moved"
STAYS = "stays"


class MovedModules:
    """Finds the modules of one package that no finder before it has found, where they are now."""

    def __init__(self, package: str) -> None:
        self._prefix = f"{package}."
        self._places: dict[str, tuple[str, bool]] | None = None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of an old path, or of a package above an old path; else None."""
        if not name.startswith(self._prefix):
            return None
        if self._places is None:
            self._places = moved_modules()
        known = max((old for old in self._places if is_below(name, old)), key=len, default=None)
        if known is not None:
            new, stays = self._places[known]
            told = f"{known} is now {new}; the old name goes after this release"
            loader = MovedModule(new + name.removeprefix(known), None if stays else told)
            return ModuleSpec(name, loader, is_package=True)  # type: ignore[arg-type]
        if any(is_below(old, name) for old in self._places):
            return ModuleSpec(name, None, is_package=True)
        return None


class MovedModule:
    """Loads an old path as a module with the names of the new module."""

    def __init__(self, new: str, warning: str | None) -> None:
        self._new = new
        self._warning = warning

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Import the new module and look names up there."""
        if self._warning:
            warnings.warn(self._warning, DeprecationWarning, stacklevel=2)
        new = importlib.import_module(self._new)
        module.__dict__.update(
            __doc__=new.__doc__, __getattr__=partial(getattr, new), __dir__=partial(dir, new)
        )


def moved_name(module: str, name: str) -> Any:
    """Return the object of a former name, with a warning; `AttributeError` for an unknown name."""
    metadata = importlib.import_module("importlib.metadata")
    for point in metadata.entry_points(group=GROUP, name=f"{module}.{name}"):
        if point.attr:
            told = f"{module}.{name} is now {point.value}; the old name goes after this release"
            warnings.warn(told, DeprecationWarning, stacklevel=3)
            return point.load()
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def moved_modules() -> dict[str, tuple[str, bool]]:
    """Return the new path of each old one, and whether the old one stays."""
    metadata = importlib.import_module("importlib.metadata")  # takes longer than all the rest
    points = metadata.entry_points(group=GROUP)
    modules = (point for point in points if not point.attr)
    return {point.name: (point.module, STAYS in point.extras) for point in modules}


def is_below(name: str, package: str) -> bool:
    """Return whether a path is that of a package or of what lies in it."""
    return name == package or name.startswith(f"{package}.")
