"""DeepPavlov Agent's documents in MongoDB: exported by `mongoexport`, or live.

`mongoexport` writes a line of Extended JSON for each document (specification: MongoDB, "MongoDB
Extended JSON (v2)"): canonical or relaxed, and before its release 4.2 version 1. All three are
read. Values without a JSON form become texts or numbers: an id its digits, a date the agent state's
form of time in UTC, NaN and infinity null.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from prolocutor.dialog.ids import format_time, parse_time
from prolocutor.errors import ConfigError

Document = dict[str, Any]
COLLECTIONS: Final = ("user", "bot", "dialog", "human_utterance", "bot_utterance")
ENDINGS: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_ARRAY: Final = "is one JSON array; export without --jsonArray"


class DocumentSource(Protocol):
    """Where documents come from."""

    def documents(self, collection: str) -> Iterator[Document]:
        """Yield the documents of a collection, in the order in which they were made."""


def open_source(given: str) -> DocumentSource:
    """Return the source at the URL of a database, or in a folder of exported files."""
    if given.startswith(("mongodb://", "mongodb+srv://")):
        return MongoDatabase(given)
    return ExportFolder(Path(given))


class ExportFolder:
    """Files of `mongoexport`, `COLLECTION.json` each; `.jsonl` and `.gz` are read too."""

    def __init__(self, folder: Path) -> None:
        self._files = {name: _file(folder, name) for name in COLLECTIONS}

    def documents(self, collection: str) -> Iterator[Document]:
        """Yield the documents of a file; raise `ConfigError` for a line that is not a document."""
        file = self._files[collection]
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    document = decode(line)
                    yield {key: plain_value(value) for key, value in document.items()}
                except (LookupError, RecursionError, TypeError, ValueError) as error:
                    what = (
                        _ARRAY if line.lstrip().startswith(b"[") else f"is not a document: {error}"
                    )
                    raise ConfigError(f"{file}:{number}: {what}") from None


class MongoDatabase:
    """A running MongoDB, by the package `pymongo`."""

    def __init__(self, url: str) -> None:
        try:
            pymongo, self._json = import_module("pymongo"), import_module("bson.json_util")
        except ImportError:
            what = "a running MongoDB is read by the package pymongo: pip install pymongo"
            raise ConfigError(what) from None
        client = pymongo.MongoClient(url)
        try:
            self._database = client.get_default_database()
        except Exception as error:
            what = f"{url.rpartition('@')[2]}: name the database, mongodb://HOST:27017/NAME"
            raise ConfigError(f"{what} ({error})") from None

    def documents(self, collection: str) -> Iterator[Document]:
        """Yield the documents of a collection; raise `ConfigError` where it cannot be read."""
        try:
            for document in self._database[collection].find().sort("_id", 1):
                written = msgspec.json.decode(self._json.dumps(document))
                yield {key: plain_value(value) for key, value in written.items()}
        except Exception as error:
            raise ConfigError(f"MongoDB: {type(error).__name__}: {error}") from None


def _file(folder: Path, name: str) -> Path:
    found = (folder / f"{name}{ending}" for ending in ENDINGS)
    file = next((one for one in found if one.is_file()), None)
    if file is None:
        what = f"there is no {name}.json: mongoexport --db NAME --collection {name}"
        raise ConfigError(f"{folder}: {what} --out {name}.json")
    return file


def plain_value(value: Any) -> Any:
    """Return a value of Extended JSON as plain JSON; raise ValueError for an invalid value."""
    if isinstance(value, dict):
        for key in value:
            if key in _TYPES and len(value) <= 2:
                return _TYPES[key](value)
        return {key: plain_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain_value(one) for one in value]
    return value


def _date(value: Mapping[str, Any]) -> str:
    date = value["$date"]
    if isinstance(date, dict):
        date = int(date["$numberLong"])
    return format_time(parse_time(date) if isinstance(date, str) else date / 1000)


def _double(value: Mapping[str, Any]) -> float | None:
    number = float(value["$numberDouble"])
    return number if math.isfinite(number) else None


def _binary(value: Mapping[str, Any]) -> Any:
    inner = value["$binary"]
    return inner["base64"] if isinstance(inner, dict) else inner


_TYPES: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "$oid": lambda value: str(value["$oid"]),
    "$date": _date,
    "$numberInt": lambda value: int(value["$numberInt"]),
    "$numberLong": lambda value: int(value["$numberLong"]),
    "$numberDouble": _double,
    "$numberDecimal": lambda value: str(value["$numberDecimal"]),
    "$binary": _binary,
    "$uuid": lambda value: str(value["$uuid"]),
    "$symbol": lambda value: str(value["$symbol"]),
    "$undefined": lambda value: None,
}
