"""Dictionaries in the place of MongoDB: as much of motor as dp-agent 2.2.0 calls.

`install()` puts it, and an empty aio_pika, where dp-agent looks for them. It flatters dp-agent:
no socket, no copies, and every key that is looked up has an index (with MongoDB, dp-agent looks
for the dialog by a key that has none). With `through_bson` documents are written and read as BSON
bytes, by the functions that MongoDB's driver uses: what the driver would cost, but for the socket.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import bson
from bson.objectid import ObjectId

Document = dict[str, Any]

INDEXED = ("_id", "_dialog_id", "_human_id", "dialog_id", "external_id", "utt_id")


class Collection:
    """One collection: documents by id, and by each of the keys that dp-agent looks for."""

    def __init__(self, through_bson: bool = False) -> None:
        self.documents: dict[ObjectId, Document] = {}
        self._written: dict[ObjectId, bytes] | None = {} if through_bson else None
        self._by: dict[str, dict[Any, list[Document]]] = {key: defaultdict(list) for key in INDEXED}

    async def create_index(self, keys: object) -> None:
        """Takes the place of an index that stands already."""

    async def insert_one(self, document: Document) -> SimpleNamespace:
        return SimpleNamespace(inserted_id=self.put(document))

    async def update_one(self, wanted: Document, change: Document) -> None:
        """Sets keys of the document with one id; dp-agent never changes an indexed key."""
        document = self.documents[wanted["_id"]]
        document.update(change["$set"])
        self._write(document)

    async def find_one(self, wanted: Document) -> Document | None:
        found = self.matching(wanted)
        return self._read(found[0]) if found else None

    async def find(self, wanted: Document | None = None) -> AsyncIterator[Document]:
        for document in self.matching(wanted or {}):
            yield self._read(document)

    async def distinct(self, key: str) -> list[Any]:
        return sorted({document[key] for document in self.documents.values()})

    def put(self, document: Document) -> ObjectId:
        made = document.setdefault("_id", ObjectId())
        self.documents[made] = document
        self._write(document)
        for key, found in self._by.items():
            if key in document:
                found[document[key]].append(document)
        return made

    def matching(self, wanted: Document) -> list[Document]:
        key = next((key for key in wanted if key in self._by), None)
        found = self.documents.values() if key is None else self._by[key].get(wanted[key], ())
        rest = [(name, value) for name, value in wanted.items() if name != key]
        if not rest:
            return list(found)
        return [one for one in found if all(one.get(name) == value for name, value in rest)]

    def _write(self, document: Document) -> None:
        if self._written is not None:
            self._written[document["_id"]] = bson.encode(document)

    def _read(self, document: Document) -> Document:
        return document if self._written is None else bson.decode(self._written[document["_id"]])


class Client:
    """The client: databases by name, each a collection by name."""

    def __init__(self, host: str, port: int, *, through_bson: bool) -> None:
        self._databases: dict[str, dict[str, Collection]] = defaultdict(
            lambda: defaultdict(partial(Collection, through_bson))
        )

    def __getitem__(self, name: str) -> dict[str, Collection]:
        return self._databases[name]


def install(*, through_bson: bool = False) -> None:
    """Stands in for motor, and for aio_pika, which dp-agent imports and here never calls."""
    asyncio_part = ModuleType("motor.motor_asyncio")
    asyncio_part.AsyncIOMotorClient = partial(Client, through_bson=through_bson)
    motor = ModuleType("motor")
    motor.motor_asyncio = asyncio_part
    aio_pika = ModuleType("aio_pika")
    for name in ("Connection", "Channel", "Exchange", "Queue", "IncomingMessage", "Message"):
        setattr(aio_pika, name, type(name, (), {}))
    sys.modules.update({"motor": motor, "motor.motor_asyncio": asyncio_part, "aio_pika": aio_pika})
