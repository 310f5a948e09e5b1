"""Compares what the people of a soak of replicas said, heard and read with what is stored."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bench.soaking.database import SoakDatabase
from bench.soaking.replica_ledger import PersonLedger, ReplicaLedger
from prolocutor.contracts.store import FeedRow, Store
from prolocutor.dialog import plain
from prolocutor.stores.store_catalog import open_store

PREFIX: Final = "almond:"
FALLBACK: Final = "I lost my thread."
LATE: Final = 1.0
"""Seconds by which half of the messages at other replicas may be late at most."""
FEW: Final = 8
"""So few messages say nothing about how late they are."""
ALL: Final = 1_000_000

NOTHING: Final = (
    ("turns that are open", "SELECT count(*) FROM open_turns"),
    ("persons that are held", "SELECT count(*) FROM holds"),
    (
        "dialogs with gaps in the positions of utterances",
        """SELECT count(*) FROM (SELECT 1 FROM utterances GROUP BY person, dialog
        HAVING min(position) <> 0 OR max(position) + 1 <> count(*) OR count(*) % 2 <> 0) x""",
    ),
    (
        "utterances out of order",
        "SELECT count(*) FROM utterances WHERE by_bot <> (position % 2 = 1)",
    ),
    (
        "utterances that are there twice",
        """SELECT count(*) FROM
        (SELECT utt_id FROM utterances GROUP BY utt_id HAVING count(*) > 1) x""",
    ),
)
"""What nothing in the tables may be like."""


class RunNote(NamedTuple):
    """One run of the agent, as it wrote it down."""

    number: int
    began: float
    ended: float


class Findings:
    """What is wrong, and how many comparisons were made."""

    def __init__(self) -> None:
        self.passed = 0
        self.turns = 0
        self.run_again = 0
        self.complaints: list[str] = []

    def same(self, what: str, expected: object, actual: object) -> None:
        """Compare two things that must be the same."""
        if expected == actual:
            self.passed += 1
        else:
            self.complaints.append(f"{what}: expected {expected!r:.400}, found {actual!r:.400}")


async def check(
    database: SoakDatabase, ledger: ReplicaLedger, diary: Path, *, timely: bool
) -> Findings:
    """Compare everything; all replicas have ended. `timely`: nothing failed that delays hints."""
    findings = Findings()
    for what, statement in NOTHING:
        [[number]] = await database.rows(statement)
        findings.same(what, 0, number)
    runs = _runs(diary)
    store = open_store(database.url)
    await store.open()
    try:
        for name, person in ledger.people.items():
            rows = await store.feed(PREFIX + name, 0, ALL)
            check_feed(name, person, rows, findings)
            check_words(name, person, rows, findings)
            check_rings(name, rows, findings)
            check_runs(name, rows, runs.get(PREFIX + name, {}), findings)
            await check_dialog(name, person, rows, store, findings)
    finally:
        await store.aclose()
    lags = [lag for person in ledger.people.values() for lag in person.lags]
    if timely and len(lags) > FEW and median(lags) > LATE:
        findings.complaints.append(
            f"readers at other replicas are late by {median(lags):.2f} s in the median"
        )
    return findings


def check_feed(name: str, person: PersonLedger, rows: list[FeedRow], findings: Findings) -> None:
    """Check that numbers have no gap, and that what was heard and read is what is stored."""
    findings.same(f"{name}: the numbers n", list(range(1, len(rows) + 1)), [row.n for row in rows])
    stored = {row.id: _text(row) for row in rows if row.id is not None}
    findings.same(f"{name}: the ids", list(range(len(stored))), sorted(stored))
    for words in person.said:
        if words.heard is None:
            findings.complaints.append(f"{name}: {words.number} was never answered")
    found = {id_: stored.get(id_) for id_ in person.read}
    findings.same(f"{name}: what was read", person.read, found)
    findings.same(f"{name}: messages that readers missed", [], sorted(stored.keys() - person.read))


def check_words(name: str, person: PersonLedger, rows: list[FeedRow], findings: Findings) -> None:
    """Check that all words are stored once, in order, each with one reply that saw the last."""
    texts = [_text(row) for row in rows if row.id is not None]
    said = [int(text.partition(":")[0]) for text in texts if text.endswith(": hello")]
    findings.same(f"{name}: words lost", [], sorted({w.number for w in person.said} - set(said)))
    findings.same(
        f"{name}: words twice", [], [n for n, times in Counter(said).items() if times > 1]
    )
    place = {number: at for at, number in enumerate(said)}
    for words in person.said:
        before = [
            n for n in range(1, words.after + 1) if place.get(n, -1) > place.get(words.number, 0)
        ]
        findings.same(f"{name}: words stored after {words.number} and answered before", [], before)
    replies = [text for text in texts if " after " in text or text == FALLBACK]
    findings.same(f"{name}: replies", len(said), len(replies))
    last = "nothing"
    for reply in replies:
        token = reply.split()[1]
        if reply != FALLBACK:
            shown = f"{reply.split()[0]} {token} after {last}"
            findings.same(f"{name}: what a reply was made of", shown, reply)
        last = token
    order = [int(text.split()[0]) for text in replies if text != FALLBACK]
    findings.same(f"{name}: the order of replies", [n for n in said if n in set(order)], order)
    findings.turns += len(said)


def check_rings(name: str, rows: list[FeedRow], findings: Findings) -> None:
    """Check that each timer that was set rang once."""
    texts = [_text(row) for row in rows]
    rung = Counter(int(text.split()[1]) for text in texts if text.startswith("ring "))
    replies = [int(text.split()[0]) for text in texts if " after " in text]
    expected = {number: 1 for number in replies if number % 8 == 0}
    findings.same(f"{name}: timers", expected, dict(rung))


def check_runs(
    name: str, rows: list[FeedRow], runs: dict[str, RunNote], findings: Findings
) -> None:
    """Check that the runs whose replies are stored were one at a time."""
    tokens = [_text(row).split()[1] for row in rows if " after " in _text(row)]
    stored = [runs[token] for token in tokens if token in runs]
    findings.same(f"{name}: stored replies that no run gave", len(tokens), len(stored))
    overlaps = [
        (one.number, next_one.number)
        for one, next_one in itertools.pairwise(stored)
        if next_one.began < one.ended
    ]
    findings.same(f"{name}: turns that ran at once", [], overlaps)
    numbers = Counter(run.number for run in runs.values())
    findings.run_again += sum(times > 1 for times in numbers.values())


async def check_dialog(
    name: str, person: PersonLedger, rows: list[FeedRow], store: Store, findings: Findings
) -> None:
    """Check that the dialogs have what the feed has."""
    dialogs = [dialog async for dialog in store.export(user=PREFIX + name)]
    texts = [utterance.text for dialog in dialogs for utterance in dialog.utterances]
    said = [_text(row) for row in rows if row.id is not None]
    fed = [text for text in said if not text.startswith("ring ")]
    findings.same(f"{name}: utterances", fed, texts)
    replies = {
        utterance.utt_id: utterance.text for dialog in dialogs for utterance in dialog.utterances
    }
    for words in person.said:
        if words.heard is not None:
            found = replies.get(words.heard.utt_id)
            findings.same(f"{name}: what was heard to {words.number}", words.heard.response, found)


def _runs(diary: Path) -> dict[str, dict[str, RunNote]]:
    """Return all runs by person and token."""
    runs: dict[str, dict[str, RunNote]] = {}
    for line in diary.read_text("utf-8").splitlines() if diary.exists() else ():
        user, number, token, began, ended = line.split()
        runs.setdefault(user, {})[token] = RunNote(int(number), float(began), float(ended))
    return runs


def _text(row: FeedRow) -> str:
    message = plain.decode(row.message or b"{}")
    return str(message.get("command") or message.get("text") or "")
