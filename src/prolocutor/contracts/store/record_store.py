"""RecordStore: small JSON documents of a person, by kind and key."""

from __future__ import annotations

from typing import Protocol

import msgspec


class NewRecord(msgspec.Struct, frozen=True):
    """A document that a turn adds: it belongs to the turn's person and dialog."""

    kind: str
    key: str
    body: bytes


class StoredDocument(msgspec.Struct, frozen=True):
    """A document of any person; later ones have higher numbers."""

    number: int
    user: str
    key: str
    body: bytes


class RecordStore(Protocol):
    """The user "" stands for the assistant itself."""

    async def put_record(
        self, user: str, kind: str, key: str, body: bytes, about: str = ""
    ) -> None:
        """Write a document, in place of the one of this kind and key.

        `about` is the id of a dialog or an utterance: the document is deleted with the dialog.
        """

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""

    async def records_since(
        self, kind: str, after: int = 0, limit: int = 10_000
    ) -> list[StoredDocument]:
        """Return the latest documents of a kind, of all users, with numbers above `after`.

        There are `limit` at most, the oldest first. On a store that replicas share a number may
        appear after a higher one: `record_count` tells.
        """

    async def record_count(self, kind: str) -> int:
        """Return how many documents of a kind there are, of all users."""

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""
