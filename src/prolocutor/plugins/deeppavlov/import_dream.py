"""`prolocutor store import-dream`: stored dialogs of DeepPavlov Agent into a store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click
import msgspec

from prolocutor.config.store_location import store_url
from prolocutor.contracts.store_options import (
    StoredDialog,
    StoredPerson,
    StoredRating,
    StoredUtterance,
    StoredVersion,
    StoreTransfer,
)
from prolocutor.dialog import agent_state
from prolocutor.dialog.dialog import PROFILE_KEYS, Change, apply_changes
from prolocutor.dialog.plain import decode, encode
from prolocutor.dialog.profile_changes import KEY_FRAME_INTERVAL
from prolocutor.plugins.deeppavlov.mongo_documents import Document, DocumentSource, open_source
from prolocutor.stores.store_catalog import open_transfer

_SHOWN_EACH = 100

Progress = Callable[[int, int], None]
"""Called with the number of persons done, and of all."""

_HEX: Final = frozenset("0123456789abcdef")


@click.command(short_help="Import DeepPavlov Agent's dialogs from MongoDB.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def import_dream(source: str, target: str) -> None:
    """Import DeepPavlov Agent's dialogs from MongoDB: people, dialogs, ratings.

    FROM is a folder with a file of mongoexport for each collection (user, bot, dialog,
    human_utterance, bot_utterance), or mongodb://HOST:27017/NAME, which needs the package pymongo.
    TO is a store; stop the assistants that use it. All ids stay.

    A person known to TO stays unchanged. To resume an interrupted import, repeat the command.

    \b
    Example:
      mongoexport --db dream-dev --collection dialog --out dump/dialog.json
      prolocutor store import-dream dump dream.db
    """
    click.echo(asyncio.run(_import(source, target)))


async def _import(given: str, target: str) -> str:
    source, transfer = open_source(given), open_transfer(store_url(target))
    await transfer.open(alone=True)
    try:
        outcome = await import_dialogs(source, transfer, _progress)
    finally:
        await transfer.aclose()
    return _told(outcome)


def _told(outcome: ImportOutcome) -> str:
    told = (
        f"{outcome.persons:,} persons, {outcome.dialogs:,} dialogs, {outcome.utterances:,}"
        f" utterances and {outcome.ratings:,} ratings are imported;"
        f" {outcome.kept:,} persons were there already"
    )
    if outcome.left_out:
        told += f"; {outcome.left_out:,} documents are left out: whose they are is missing"
    return f"{told}."


def _progress(done: int, total: int) -> None:
    if done == total or done % _SHOWN_EACH == 0:
        click.echo(f"\r{done} of {total} persons", nl=done == total, err=True)


_HUMAN, _BOT, _DIALOG, _SAID = range(4)
_KEYS: Final = {
    "user": (_HUMAN, "external_id", "_id"),
    "bot": (_BOT, "_id", "_id"),
    "dialog": (_DIALOG, "_human_id", "date_start"),
    "human_utterance": (_SAID, "_dialog_id", "_in_dialog_id"),
    "bot_utterance": (_SAID, "_dialog_id", "_in_dialog_id"),
}
"""By collection: the kind, by which key documents are looked for, by which they are ordered."""


class ImportOutcome(msgspec.Struct):
    """The outcome of an import; `left_out` counts documents without their person or dialog."""

    persons: int = 0
    dialogs: int = 0
    utterances: int = 0
    ratings: int = 0
    kept: int = 0
    left_out: int = 0


async def import_dialogs(
    source: DocumentSource, target: StoreTransfer, progress: Progress
) -> ImportOutcome:
    """Store each person unknown to the target, in one transaction each.

    Persons known to the target stay unchanged: an interrupted import can be resumed, and dialogs
    held meanwhile are kept.
    """
    known = {*await target.users()}
    outcome = ImportOutcome()
    with TemporaryDirectory(prefix="prolocutor-") as folder:
        documents = SortedDocuments(Path(folder) / "documents.db")
        for collection in _KEYS:
            documents.add(collection, source.documents(collection))
        outcome.left_out = documents.finish()
        names = documents.persons()
        for number, name in enumerate(names, 1):
            if name in known:
                outcome.kept += 1
            else:
                person = make_person(name, documents)
                await target.put_person(person)
                _count(outcome, person)
            progress(number, len(names))
        documents.close()
    return outcome


def _count(outcome: ImportOutcome, person: StoredPerson) -> None:
    outcome.persons += 1
    outcome.dialogs += len(person.dialogs)
    outcome.utterances += sum(len(dialog.utterances) for dialog in person.dialogs)
    outcome.ratings += sum(len(dialog.ratings) for dialog in person.dialogs)


class SortedDocuments:
    """All documents in a file, found by the id of their owner."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute(
            "CREATE TABLE document (number INTEGER PRIMARY KEY, kind, of, place, id, human, body)"
        )

    def add(self, collection: str, documents: Iterator[Document]) -> None:
        """Write the documents of a collection."""
        kind, of, place = _KEYS[collection]
        human = collection != "bot_utterance"
        self._db.execute("BEGIN")
        self._db.executemany(
            "INSERT INTO document (kind, of, place, id, human, body) VALUES (?, ?, ?, ?, ?, ?)",
            (
                (
                    kind,
                    _text(document.get(of)),
                    document.get(place),
                    _text(document["_id"]),
                    human,
                    encode(document),
                )
                for document in documents
            ),
        )
        self._db.execute("COMMIT")

    def finish(self) -> int:
        """Make it quick to find them; return how many have nothing that they belong to."""
        self._db.execute("CREATE INDEX found ON document (kind, of, place)")
        self._db.execute("CREATE INDEX owned ON document (kind, id)")
        (lost,) = self._db.execute(
            "SELECT count(*) FROM document AS one WHERE kind IN (2, 3) AND NOT EXISTS (SELECT 1"
            " FROM document WHERE id = one.of AND kind = CASE one.kind WHEN 2 THEN 0 ELSE 2 END)"
        ).fetchone()
        return int(lost)

    def persons(self) -> list[str]:
        """Return the names of all, as clients called them, in the order in which they came."""
        found = self._db.execute(
            "SELECT of FROM document WHERE kind = 0 GROUP BY of ORDER BY min(number)"
        )
        return [name for (name,) in found if name]

    def find(self, kind: int, of: str) -> list[tuple[int, bool, Document]]:
        """Return number, whether it is a human's, and document of all that belong to something."""
        found = self._db.execute(
            "SELECT number, human, body FROM document WHERE kind = ? AND of = ?"
            " ORDER BY place, number",
            (kind, of),
        )
        return [(number, bool(human), decode(body)) for number, human, body in found]

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def make_person(name: str, documents: SortedDocuments) -> StoredPerson:
    """Return a person with all dialogs; several persons of one name are merged."""
    humans = [one for _, _, one in documents.find(_HUMAN, name)]
    human_id = humans[0]["_id"]
    profile = ProfileChain(agent_state.new_human(human_id, name))
    found = [each for human in humans for each in documents.find(_DIALOG, human["_id"])]
    found.sort(key=lambda each: (each[2].get("date_start") or "", each[0]))
    active = [number for number, _, one in found if one.get("_active")]
    dialogs = [
        _dialog(number, one, number == active[-1] if active else False, profile, documents, name)
        for number, _, one in found
    ]
    profile.add(humans[-1])
    return StoredPerson(
        user=name,
        human_id=human_id,
        human=profile.versions,
        said={"main": 0},
        dialogs=dialogs,
    )


def _dialog(
    number: int,
    document: Document,
    active: bool,
    human: ProfileChain,
    documents: SortedDocuments,
    name: str,
) -> StoredDialog:
    id_, bot_id = document["_id"], _text(document.get("_bot_id")) or document["_id"]
    bot = ProfileChain(agent_state.new_bot(bot_id))
    ratings = _ratings(None, document, name)
    utterances, skills = [], []
    for position, (_, is_human, said) in enumerate(documents.find(_SAID, id_)):
        version = (human if is_human else bot).add(said.get("user") or {})
        ratings += _ratings(position, said, name)
        utterances.append(_utterance(position, is_human, said, version))
        if said.get("active_skill"):
            skills.append(said["active_skill"])
    for _, _, newest in documents.find(_BOT, bot_id):
        bot.add(newest)
    start = document.get("date_start") or (utterances[0].date_time if utterances else "")
    return StoredDialog(
        number=number,
        dialog_id=_hex(document.get("dialog_id")) or id_,
        id=id_,
        bot_id=bot_id,
        name="main",
        channel_type=str(document.get("channel_type") or "http_client"),
        date_start=start,
        active=active,
        attributes=encode(_attributes(document)),
        round=b"{}",
        skills=list(dict.fromkeys(skills)),
        bot=bot.versions,
        utterances=utterances,
        ratings=ratings,
    )


def _utterance(position: int, is_human: bool, said: Document, version: int) -> StoredUtterance:
    utt_id = _hex(said.get("utt_id")) or said["_id"]
    text, date_time = str(said.get("text") or ""), str(said.get("date_time") or "")
    body: Document = {"utt_id": utt_id, "text": text}
    if not is_human:
        body["orig_text"] = said.get("orig_text") or text
        body["active_skill"] = said.get("active_skill") or ""
        body["confidence"] = _number(said.get("confidence", 1))
    body["date_time"] = date_time
    body["attributes"] = _attributes(said)
    body["annotations"] = _map(said.get("annotations"))
    return StoredUtterance(
        position=position,
        utt_id=utt_id,
        by_bot=not is_human,
        user_version=version,
        date_time=date_time,
        body=encode(body),
        hypotheses=encode(_hypotheses(said)) if is_human else None,
    )


def _hypotheses(said: Document) -> list[Document]:
    """Return the hypotheses; fields left out by a skill are empty, or 0."""
    return [
        {
            **hypothesis,
            "skill_name": str(hypothesis.get("skill_name") or ""),
            "text": str(hypothesis.get("text") or ""),
            "confidence": _number(hypothesis.get("confidence")),
            "annotations": _map(hypothesis.get("annotations")),
        }
        for hypothesis in said.get("hypotheses") or ()
        if isinstance(hypothesis, dict)
    ]


def _attributes(document: Document) -> Document:
    attributes = _map(document.get("attributes"))
    return {key: value for key, value in attributes.items() if key != "ratings"}


def _map(value: Any) -> Document:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else 0.0


def _ratings(position: int | None, document: Document, name: str) -> list[StoredRating]:
    """Return the ratings of a dialog or utterance; ratings by `human_id` are the person's own."""
    found = _map(document.get("attributes")).get("ratings") or []
    return [
        StoredRating(
            position,
            encode(one["rating"]).decode(),
            agent_state.rating(
                one["rating"],
                _text(one.get("user_external_id")) or (name if "human_id" in one else None),
                str(one.get("datetime") or ""),
            ),
        )
        for one in found
        if isinstance(one, dict) and one.get("rating") is not None
    ]


class ProfileChain:
    """The versions of a profile, as seen in utterances."""

    def __init__(self, new: bytes) -> None:
        self._state: Document = decode(new)
        self.versions = [StoredVersion(0, b"[]", new)]

    def add(self, given: Document) -> int:
        """Add the profile of a document; return the number of its version."""
        wanted: Document = {
            "persona": given.get("persona") or [],
            "attributes": _map(given.get("attributes")),
        }
        if "profile" in self._state:
            wanted["profile"] = {**dict.fromkeys(PROFILE_KEYS), **_map(given.get("profile"))}
        changes = [*_changes(self._state, wanted)]
        if changes:
            apply_changes(self._state, changes)
            number = len(self.versions)
            state = None if number % KEY_FRAME_INTERVAL else encode(self._state)
            self.versions.append(StoredVersion(number, encode(changes), state))
        return len(self.versions) - 1


def _changes(state: Document, wanted: Document) -> Iterator[Change]:
    for part, value in wanted.items():
        if part == "persona":
            if encode(state[part]) != encode(value):
                yield ["", part, value]
            continue
        known = state[part]
        yield from ([part, key] for key in known if key not in value)
        for key, one in value.items():
            if key not in known or encode(known[key]) != encode(one):
                yield [part, key, one]


def _text(given: Any) -> str:
    """Return a name or an id; a number is its text, as the door reads it."""
    return given if isinstance(given, str) else "" if given is None else encode(given).decode()


def _hex(given: Any) -> str:
    """Return an id of hex digits; "" for other values."""
    return given if isinstance(given, str) and given and _HEX.issuperset(given) else ""
