"""StoreOptions: how a store is named, made and copied."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import msgspec

from prolocutor.contracts.store import Store
from prolocutor.contracts.store.transfer import StoreTransfer

Durability = Literal["full", "relaxed"]


class StoreContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a store is told of the assistant that it is made for.

    `durability`: `full` waits for the disk at each commit; `relaxed` may lose the last turns in a
    power cut, though not in a crash of the process.
    """

    durability: Durability = "full"


@runtime_checkable
class StoreOptions(Protocol):
    """The options of a store, a frozen Struct that an entry point of `prolocutor.stores` names.

    The name is the scheme of its URLs. A class method `from_url(url)` returns the options that a
    URL means, and raises `ConfigError` for one that means none; where there is none, the Struct
    has the field `url`.
    """

    def build(self, context: StoreContext) -> Store:
        """Return the store, not yet open."""


@runtime_checkable
class CopiedStore(StoreOptions, Protocol):
    """A store that `prolocutor store` migrates, checks and copies."""

    def transfer(self) -> StoreTransfer:
        """Return what takes persons out of the store, or puts them into it."""
