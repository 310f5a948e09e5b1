"""Which store a URL means: the only list of stores, read lazily."""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, Literal, cast

from prolocutor.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from prolocutor.contracts.store import Store

Durability = Literal["full", "relaxed"]

SCHEMES: Final = {
    "memory": "prolocutor.stores.memory:from_url",
    "sqlite": "prolocutor.stores.sqlite.sqlite_store:from_url",
}
"""URL scheme -> `module:function(url, durability) -> Store`."""

ENTRY_POINTS: Final = "prolocutor.stores"
"""Where a plug-in names its schemes, with the same kind of function."""


def open_store(url: str, *, durability: Durability = "full") -> Store:
    """Make the store that a URL such as `sqlite:///dialogs.db` or `memory:` means, not yet open.

    `sqlite:///dialogs.db` is a path from the working directory, `sqlite:////var/dialogs.db` one
    from the root. Durability `full` waits for the disk at each commit; `relaxed` may lose the last
    turns in a power cut, though not in a crash of the process.
    """
    if durability not in ("full", "relaxed"):
        raise ConfigError(f"durability is full or relaxed, not {durability!r}", key="durability")
    scheme, colon, _ = url.partition(":")
    if not colon:
        raise ConfigError(f"{url!r} is no URL; write sqlite:///{url}", key="store")
    return _maker(scheme)(url, durability)


def _maker(scheme: str) -> Callable[[str, Durability], Store]:
    if target := SCHEMES.get(scheme):
        module, _, name = target.partition(":")
        found = getattr(importlib.import_module(module), name)
    else:
        known = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
        if scheme not in known:
            names = ", ".join(sorted({*SCHEMES, *known}))
            raise ConfigError(f"no store is called {scheme!r}; there are {names}", key="store")
        found = known[scheme].load()
    return cast("Callable[[str, Durability], Store]", found)
