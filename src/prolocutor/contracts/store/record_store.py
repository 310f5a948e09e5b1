"""RecordStore: small JSON documents of a person, by kind and key."""

from __future__ import annotations

from typing import Protocol


class RecordStore(Protocol):
    """The user "" stands for the assistant itself."""

    async def put_record(self, user: str, kind: str, key: str, body: bytes) -> None:
        """Write a document, in place of the one of this kind and key."""

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""
