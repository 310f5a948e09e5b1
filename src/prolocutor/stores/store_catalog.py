"""The stores by the scheme of their URL.

Another package adds its own through an entry point in the group `prolocutor.stores`: scheme -> a
function `(url, durability) -> Store`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from prolocutor.catalog import Catalog
from prolocutor.contracts.store import Store
from prolocutor.contracts.store.transfer import StoreTransfer
from prolocutor.errors import ConfigError

Durability = Literal["full", "relaxed"]

STORES: Final = Catalog[Callable[[str, Durability], Store]](
    "store", "prolocutor.stores", key="store"
)

TRANSFERS: Final = Catalog[Callable[[str], StoreTransfer]](
    "store that can be copied", "prolocutor.transfers", key="store"
)


def transfer_of(url: str) -> StoreTransfer:
    """Make what takes persons out of the store that a URL means, or puts them into it."""
    return TRANSFERS.load(url.partition(":")[0])(url)


def open_store(url: str, *, durability: Durability = "full") -> Store:
    """Make the store that a URL such as `sqlite:///dialogs.db` or `memory:` means, not yet open.

    `memory` is `memory:` too.
    `sqlite:///dialogs.db` is a path from the working directory, `sqlite:////var/dialogs.db` one
    from the root. Durability `full` waits for the disk at each commit; `relaxed` may lose the last
    turns in a power cut, though not in a crash of the process.
    """
    if durability not in ("full", "relaxed"):
        raise ConfigError(f"durability is full or relaxed, not {durability!r}", key="durability")
    scheme, colon, _ = url.partition(":")
    if not colon and url != "memory":
        raise ConfigError(f"{url!r} is no URL; write sqlite:///{url}", key="store")
    return STORES.load(scheme)(url, durability)
