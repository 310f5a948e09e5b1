"""The soak would notice what must not happen: each kind of damage done to a file by hand."""

import asyncio
import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from bench.soaking.soak_run import SoakRun

pytestmark = pytest.mark.long

PAIR = "(SELECT utterance FROM utterances ORDER BY utterance DESC LIMIT 2)"
LAST = "(SELECT max(utterance) FROM utterances)"
OTHER_WORDS = "CAST(replace(CAST({} AS TEXT), ' it is', ' it was') AS BLOB)"
COPY = """
    INSERT INTO utterances SELECT utterance + {0}, dialog, position + {0}, utt_id || 'x', by_bot,
        user_version, date_time, body FROM utterances WHERE utterance IN {1}
"""
SWAP = """
    UPDATE utterances SET position = 100000 + (position + 2) % 4 WHERE position < 4
        AND dialog = (SELECT dialog FROM utterances GROUP BY dialog HAVING count(*) > 3);
    UPDATE utterances SET position = position - 100000 WHERE position >= 100000
"""
TWICE = """
    UPDATE versions
        SET changes = CAST(replace(CAST(changes AS TEXT), '"counted",1]', '"counted",2]') AS BLOB)
"""
OTHER_ID = """
    UPDATE requests
        SET outcome = CAST(replace(CAST(outcome AS TEXT), '"utt_id":"', '"utt_id":"x') AS BLOB)
"""

DAMAGE = {
    "a turn is lost": ("messages lost", f"DELETE FROM utterances WHERE utterance IN {PAIR}"),
    "a reply is lost": ("dialogs with gaps", f"DELETE FROM utterances WHERE utterance = {LAST}"),
    "a reply is there twice": ("who speaks", COPY.format(1, LAST)),
    "a message is there twice": ("the order of messages", COPY.format(2, PAIR)),
    "messages change places": ("the order of messages", SWAP),
    "a reply has other words": (
        "the answer to",
        f"UPDATE utterances SET body = {OTHER_WORDS.format('body')} WHERE by_bot",
    ),
    "an utterance has another id": ("another id", "UPDATE utterances SET utt_id = 'x' || utt_id"),
    "a kept answer was not given": (
        "answers kept",
        OTHER_ID,
    ),
    "a turn is open": (
        "open turns",
        "INSERT INTO open_turns VALUES (999, 'x', 1, 99, 0, 1, NULL, NULL, x'', 1, 1)",
    ),
    "an answer cannot be asked for again": (
        "requests kept",
        "DELETE FROM requests WHERE request = (SELECT max(request) FROM requests)",
    ),
    "the feed has a hole": ("a row of the feed", "DELETE FROM feed WHERE n = 2"),
    "the feed has other words": (
        "a row of the feed",
        f"UPDATE feed SET message = {OTHER_WORDS.format('message')}",
    ),
    "a message has another number": (
        "messages numbered with gaps",
        "UPDATE feed SET id = id + 1000 WHERE n = 2",
    ),
    "a turn has no closing": ("closings", "UPDATE feed SET closing = NULL WHERE n = 2"),
    "a change happened twice": ("the person after", TWICE),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SoakRun:
    """A soak of a few kills, over and in order."""
    course = SoakRun(tmp_path_factory.mktemp("soak"), kills=6, people=3, seed=3)
    report = asyncio.run(course.run())
    assert report.complaints == []
    return course


@pytest.fixture
def damaged(course: SoakRun, tmp_path: Path) -> SoakRun:
    """The same soak with a file of its own, not yet damaged."""
    copy = SoakRun(tmp_path, kills=6, people=3, seed=3)
    shutil.copy(course.file, copy.file)
    shutil.copy(course.diary, copy.diary)
    copy.ledger = course.ledger
    return copy


@pytest.mark.parametrize("what", DAMAGE)
async def test_it_is_noticed_that(what: str, damaged: SoakRun) -> None:
    noticed, statements = DAMAGE[what]
    with contextlib.closing(sqlite3.connect(damaged.file)) as connection:
        connection.executescript(statements)
        assert connection.total_changes > 0

    findings = await damaged.check()

    assert any(noticed in complaint for complaint in findings.complaints), findings.complaints


async def test_it_is_noticed_that_a_turn_ran_three_times(damaged: SoakRun) -> None:
    first = damaged.diary.read_text().splitlines()[0]
    with damaged.diary.open("a") as diary:
        diary.write(f"{first}\n{first}\n")

    findings = await damaged.check()

    assert any("ran more than twice" in complaint for complaint in findings.complaints)


async def test_it_is_noticed_that_a_turn_ran_before_its_words_were_stored(damaged: SoakRun) -> None:
    with damaged.diary.open("a") as diary:
        diary.write(f"{'0' * 32} person-00 99999\n")

    findings = await damaged.check()

    assert any("not in the store" in complaint for complaint in findings.complaints)
