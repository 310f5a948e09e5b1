"""The stores by the scheme of their URL.

Another package adds its own through an entry point in the group `prolocutor.stores`: scheme -> the
Struct of its options, which makes it (`contracts.store.store_options.StoreOptions`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from prolocutor.catalog import Catalog
from prolocutor.contracts.store import Store
from prolocutor.contracts.store_options import (
    CopiedStore,
    Durability,
    StoreContext,
    StoreOptions,
    StoreTransfer,
)
from prolocutor.errors import ConfigError

STORES: Final = Catalog[type[StoreOptions]](
    "store", "prolocutor.stores", key="store", needs=("build",)
)

TRANSFERS: Final = Catalog[Callable[[Any], StoreTransfer]](
    "transfer", "prolocutor.transfers", key="store"
)
"""What takes persons out of a store whose options do not say it themselves, by its scheme; made of
these options."""


def open_store(given: str | StoreOptions, *, durability: Durability = "full") -> Store:
    """Make the store of a URL such as `sqlite:///dialogs.db` or `memory:`, not yet open.

    `memory` is `memory:` too. `sqlite:///dialogs.db` is a path from the working directory,
    `sqlite:////var/dialogs.db` a path from the root.
    """
    if durability not in ("full", "relaxed"):
        raise ConfigError(f"durability is full or relaxed, not {durability!r}", key="durability")
    options = read_store_url(given) if isinstance(given, str) else given
    return options.build(StoreContext(durability=durability))


def open_transfer(url: str) -> StoreTransfer:
    """Make the reader or writer of persons for the store of a URL."""
    options, scheme = read_store_url(url), url.partition(":")[0]
    if isinstance(options, CopiedStore):
        return options.transfer()
    if scheme not in TRANSFERS:
        raise ConfigError(f"{url}: stores of this kind cannot be copied", key="store")
    return TRANSFERS.load(scheme)(options)


def read_store_url(url: str) -> StoreOptions:
    """Return the options of the store of a URL; raise `ConfigError` for an unknown kind."""
    scheme, colon, _ = url.partition(":")
    if not colon and url != "memory":
        raise ConfigError(f"{url!r} is not a URL; write sqlite:///{url}", key="store")
    kind: Any = STORES.load(scheme)
    options: StoreOptions = kind.from_url(url) if hasattr(kind, "from_url") else kind(url=url)
    return options
