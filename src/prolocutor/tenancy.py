"""Tenant: whose code and whose requests run now, where one server has several assistants.

The server sets `TENANT` in the task that starts an assistant and in the task of each of its
requests. Turns, threads of services and logs inherit it. Without tenants it is None.

Two folders may each have a module `agents`. What a file of a tenant names is therefore imported
under a package of the tenant, and `import` in that code looks there first, also when a function
imports at the time of a call. Modules that are installed are shared by all.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import itertools
import re
import sys
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Final

_NUMBERS: Final = itertools.count(1)


class Tenant:
    """One tenant: its name, and the modules of its folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = str(folder)
        self._own: dict[str, bool] = {}
        self._package = f"_tenant_{next(_NUMBERS)}_{re.sub(r'[^0-9A-Za-z]', '_', name)}"
        self._builtins = {**vars(builtins), "__import__": self._import}
        package = ModuleType(self._package)
        package.__path__ = [self._folder]
        sys.modules[self._package] = package
        self._finder = _TenantFinder(self._package, self._builtins)
        sys.meta_path.insert(0, self._finder)

    @property
    def search_path(self) -> list[str]:
        """Where a child process finds this tenant's modules: its folder, then as this process."""
        return [self._folder, *sys.path]

    def holds(self, place: Path) -> bool:
        """Return whether a file or folder lies in the tenant's own folder."""
        return place.resolve().is_relative_to(Path(self._folder).resolve())

    def import_module(self, name: str) -> ModuleType:
        """Import a module of the tenant's folder if it has one of this name, else as everyone.

        Raise what the import raises; a `ModuleNotFoundError` names modules as the code does.
        """
        if not self._has(name.partition(".")[0]):
            return importlib.import_module(name)
        try:
            return importlib.import_module(f"{self._package}.{name}")
        except ModuleNotFoundError as error:
            missing = (error.name or "").removeprefix(f"{self._package}.")
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing) from error

    def forget(self) -> None:
        """Remove all that was imported for this tenant; nothing can be imported for it any more."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for name in list(sys.modules):
            if name == self._package or name.startswith(f"{self._package}."):
                del sys.modules[name]

    def _has(self, top: str) -> bool:
        """Return whether a module is the tenant's; a bare folder is one if no other has its name.

        As on the search path of Python, modules that are built in come first.
        """
        known = self._own.get(top)
        if known is None:
            spec = None
            if top not in sys.builtin_module_names:
                spec = PathFinder.find_spec(top, [self._folder])
            known = spec is not None and (
                spec.origin is not None or importlib.util.find_spec(top) is None
            )
            self._own[top] = known
        return known

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        """Do what the statement `import` does in the tenant's code."""
        top = name.partition(".")[0]
        if level or not self._has(top):
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = self.import_module(name)
        if not fromlist:
            return sys.modules[f"{self._package}.{top}"]
        return builtins.__import__(module.__name__, globals, locals, fromlist, 0)


class _TenantFinder:
    """Finds the modules of one tenant's package; the code of each gets the tenant's `import`."""

    def __init__(self, package: str, its_builtins: dict[str, Any]) -> None:
        self._prefix = f"{package}."
        self._builtins = its_builtins

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is; None for the modules of others."""
        if not name.startswith(self._prefix):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _TenantLoader(name, spec.loader.path, self._builtins)
        return spec


class _TenantLoader(SourceFileLoader):
    """Runs the code of a module with the tenant's `import`."""

    def __init__(self, name: str, path: str, its_builtins: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._builtins = its_builtins

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        vars(module)["__builtins__"] = self._builtins
        super().exec_module(module)


TENANT: Final[ContextVar[Tenant | None]] = ContextVar("TENANT", default=None)
