"""Checker: compares what the simulated users of a soak saw with what the store has."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.soaking.agents import fault_of, number_in
from bench.soaking.ledger import MAX_FINDINGS, Ledger, ReceivedReply, SentMessage
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.stores.sqlite.sqlite_store import SqliteStore

MAX_RUNS: Final = 2

NOTHING: Final = (
    ("open turns", "SELECT * FROM open_turns"),
    (
        "dialogs with gaps",
        """SELECT dialog FROM utterances GROUP BY dialog
        HAVING min(position) != 0 OR max(position) + 1 != count(*) OR count(*) % 2""",
    ),
    ("utterances out of order", "SELECT * FROM utterances WHERE by_bot != position % 2"),
    (
        "utterances under another id",
        """SELECT utt_id, body FROM utterances
        WHERE utt_id != json_extract(CAST(body AS TEXT), '$.utt_id')""",
    ),
    (
        "messages numbered with gaps",
        """SELECT dialog_name FROM feed WHERE message IS NOT NULL GROUP BY dialog_name
        HAVING min(id) != 0 OR max(id) + 1 != count(*)""",
    ),
    (
        "hypotheses of nothing",
        "SELECT utterance FROM hypotheses EXCEPT SELECT utterance FROM utterances",
    ),
    (
        "answers kept that were not given",
        """SELECT key FROM requests
        WHERE json_extract(CAST(outcome AS TEXT), '$.reply.utt_id')
        NOT IN (SELECT utt_id FROM utterances WHERE by_bot)""",
    ),
)
"""What nothing in a file must be like."""

Pair = tuple[Dialog, HumanUtterance, BotUtterance]


class Findings(msgspec.Struct):
    """What the store has, and what is wrong with it; `passed` counts single comparisons."""

    turns: int = 0
    run_again: int = 0
    closed: int = 0
    passed: int = 0
    complaints: list[str] = []

    def same(self, what: str, expected: object, actual: object) -> None:
        """Compare two things that must be the same."""
        if expected == actual:
            self.passed += 1
        elif len(self.complaints) < MAX_FINDINGS:
            self.complaints.append(f"{what}: expected {expected!r}, found {actual!r}")


class Diary:
    """What the diarist saw: the runs of every turn by person and number."""

    def __init__(self, path: Path) -> None:
        self.runs: dict[tuple[str, int], list[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            turn_id, person, number = line.split()
            self.runs.setdefault((person, int(number)), []).append(turn_id)


async def check(path: Path, ledger: Ledger, diary: Path, seed: int, fallback: str) -> Findings:
    """Compare everything; the server has ended in good order before."""
    findings = Findings()
    runs = Diary(diary).runs
    check_file(path, findings)
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        found: set[tuple[str, int]] = set()
        for name, messages in ledger.people.items():
            dialogs = [dialog async for dialog in store.export(user=name)]
            pairs = list(_pairs(name, dialogs, findings))
            person = UserCheck(name, messages, str(seed), fallback, findings)
            person.check_words(pairs)
            person.check_answers(pairs)
            person.check_profiles(pairs)
            person.check_agents(pairs, runs)
            await person.check_feed(store, pairs)
            found |= {(name, number_in(human.text)) for _, human, _ in pairs}
        findings.same("worked at, but not in the store", set(), set(runs) - found)
        findings.turns = len(found)
    finally:
        await store.aclose()
    findings.run_again = sum(len(turns) > 1 for turns in runs.values())
    return findings


def check_file(path: Path, findings: Findings) -> None:
    """Look at the tables themselves: the file is sound, nothing is open, positions have no gaps."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:

        def rows(statement: str) -> list[tuple[Any, ...]]:
            return connection.execute(statement).fetchall()

        findings.same("integrity_check", [("ok",)], rows("PRAGMA integrity_check"))
        for what, statement in NOTHING:
            findings.same(what, [], rows(statement))
        turns = rows("SELECT count(*) FROM utterances WHERE by_bot")
        requests = "SELECT count(DISTINCT turn_id) FROM requests"
        findings.same("requests kept", turns, rows(requests))
        findings.same("closings", turns, rows("SELECT count(closing) FROM feed"))
        findings.same("rows of the feed", [(2 * turns[0][0],)], rows("SELECT count(*) FROM feed"))


class UserCheck:
    """The checks of one user: all that was sent and received is in the store."""

    def __init__(
        self, name: str, messages: list[SentMessage], seed: str, fallback: str, findings: Findings
    ) -> None:
        self.name = name
        self._messages = messages
        self._seed = seed
        self._fallback = fallback
        self._findings = findings

    def check_words(self, pairs: list[Pair]) -> None:
        """Check that no input is lost, stored twice, changed or out of order."""
        said = {message.number: message for message in self._messages}
        stored = [number_in(human.text) for _, human, _ in pairs]
        self._same("the order of messages", sorted(set(stored)), stored)
        lost = {n for n, message in said.items() if not message.given_up} - set(stored)
        self._same("messages lost", set(), lost)
        for _, human, _ in pairs:
            number = number_in(human.text)
            message = said.get(number)
            self._same(f"the words of {number}", message and message.text, human.text)

    def check_answers(self, pairs: list[Pair]) -> None:
        """Check that each received reply is in the store, with the same text and ids."""
        stored = {
            number_in(human.text): ReceivedReply(dialog.dialog_id, bot.utt_id, bot.text)
            for dialog, human, bot in pairs
        }
        for message in self._messages:
            if message.answer is not None:
                found = stored.get(message.number)
                self._same(f"the answer to {message.number}", message.answer, found)

    def check_profiles(self, pairs: list[Pair]) -> None:
        """Check that the state changed exactly once for each input that the counter answered."""
        human_state: dict[str, int] = {}
        bot_states: dict[str, dict[str, int]] = {}
        for dialog, human, bot in pairs:
            number = number_in(human.text)
            bot_state = bot_states.setdefault(dialog.dialog_id, {})
            if bot.active_skill == "counter":
                for state in (human_state, bot_state):
                    state["count"] = number
                    state["counted"] = state.get("counted", 0) + 1
            self._same(f"the person after {number}", human_state, human.user.attributes)
            self._same(f"the bot after {number}", bot_state, bot.user.attributes)
        for dialog in {dialog.dialog_id: dialog for dialog, _, _ in pairs}.values():
            self._same("the person at last", human_state, dialog.human.attributes)
            self._same("the bot at last", bot_states[dialog.dialog_id], dialog.bot.attributes)

    def check_agents(self, pairs: list[Pair], runs: dict[tuple[str, int], list[str]]) -> None:
        """Check that each reply is its agent's; a turn cut off twice is closed and marked."""
        for _, human, bot in pairs:
            number = number_in(human.text)
            turns = runs.get((self.name, number), [])
            self._same(f"the turns of {number}", min(len(turns), 1), len(set(turns)))
            self._same(f"{number} ran more than twice", True, len(turns) <= MAX_RUNS)
            if bot.attributes.get("interrupted"):
                self._findings.closed += 1
                self._same(f"the reply that closes {number}", self._fallback, bot.text)
                continue
            self._same(f"{number} was answered without a run", True, bool(turns))
            self._same(f"the reply to {number}", self._reply(bot, human), bot.orig_text)
            self._same(f"{number} polished", True, bot.text in (bot.orig_text, f"{bot.orig_text}!"))
            if bot.active_skill in ("counter", "echo", "wobbly"):
                fault = fault_of(bot.active_skill, self.name, human.text, self._seed)
                self._same(f"the fault of {bot.active_skill} in {number}", None, fault)

    async def check_feed(self, store: SqliteStore, pairs: list[Pair]) -> None:
        """Check that the feed has everything once, in order, numbered without a gap."""
        expected: list[tuple[int, str, str, str | None]] = []
        for dialog, human, bot in pairs:
            n = len(expected) + 1
            expected.append((n, dialog.dialog_id, human.text, None))
            expected.append((n + 1, dialog.dialog_id, bot.text, bot.utt_id))
        found: list[tuple[int, str, str, str | None]] = []
        while rows := await store.feed(self.name, found[-1][0] if found else 0, 1000):
            for row in rows:
                message = msgspec.json.decode(row.message)
                words = message.get("command", message.get("text"))
                found.append((row.n, row.dialog_id, words, message.get("utt_id")))
        for left, right in zip(expected, found, strict=False):
            self._same("a row of the feed", left, right)
        self._same("the length of the feed", len(expected), len(found))
        self._same("the feed's end", len(expected), await store.feed_end(self.name))

    def _reply(self, bot: BotUtterance, human: HumanUtterance) -> str:
        said = {
            "counter": f"{number_in(human.text)} it is",
            "echo": f"you said {human.text}",
            "wobbly": "so so",
        }
        return said.get(bot.active_skill, self._fallback)

    def _same(self, what: str, expected: object, actual: object) -> None:
        self._findings.same(f"{self.name}: {what}", expected, actual)


def _pairs(name: str, dialogs: list[Dialog], findings: Findings) -> Iterator[Pair]:
    """Return what was said and replied in turn, dialog after dialog."""
    ids: Counter[str] = Counter()
    for dialog in dialogs:
        said = dialog.utterances
        ids.update(utterance.utt_id for utterance in said)
        kinds = [isinstance(utterance, BotUtterance) for utterance in said]
        wanted = [False, True] * (len(said) // 2)
        findings.same(f"{name}: who speaks in {dialog.dialog_id}", wanted, kinds)
        for human, bot in zip(said[::2], said[1::2], strict=False):
            if isinstance(human, HumanUtterance) and isinstance(bot, BotUtterance):
                yield dialog, human, bot
    findings.same(f"{name}: ids given twice", [], [id_ for id_, n in ids.items() if n > 1])
