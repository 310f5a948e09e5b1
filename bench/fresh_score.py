"""Grades the demo assistant on words that were written before anybody looked at its agents.

Each line of `tests/demo/fresh/*.tsv` is sent by its own user. Its columns: the words; the scope; a
pattern of right replies or `@agents`; a pattern of embarrassing replies. A reply is *right* if it
fits, *declined* if the assistant says honestly that it does not know or cannot, and the words are
out of its scope, *unknown* if they are in scope, *embarrassing* if it fits that pattern or is no
careful answer where one is due, else *wrong*. The lines of `tests/demo/languages/*.txt` have words
and a pattern of right replies.

    python bench/fresh_score.py [FILE ...] [--wrong]
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import demo_file, load

FRESH: Final = Path(__file__).parents[1] / "tests" / "demo" / "fresh"
LANGUAGES: Final = FRESH.parent / "languages"
GRADES: Final = ("right", "declined", "unknown", "wrong", "embarrassing")
CONCURRENCY: Final = 8
_DECLINES: Final = re.compile(r"\bI (?:do not|don't) know\b|\bI (?:cannot|can not|can't)\b")

Grade: TypeAlias = Literal["right", "declined", "unknown", "wrong", "embarrassing"]


class FreshPhrase(msgspec.Struct, frozen=True):
    """One line: words, scope, and patterns of right and of embarrassing replies."""

    text: str
    scope: str
    right: str = ""
    embarrassing: str = ""


class GradedReply(msgspec.Struct, frozen=True):
    """A line, who replied, what, and how good that is."""

    phrase: FreshPhrase
    by: list[str]
    reply: str
    grade: Grade


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", type=Path, default=[*FRESH.glob("*.tsv"), *LANGUAGES.glob("*.txt")]
    )
    parser.add_argument("--wrong", action="store_true", help="list the replies that are not right")
    given = parser.parse_args()
    print(
        f"{'':<20}{'lines':>6}"
        + "".join(f"{grade:>13}" for grade in GRADES)
        + "  right or declined"
    )
    for file in sorted(given.files):
        graded = asyncio.run(_graded(_lines(file)))
        counts = collections.Counter(one.grade for one in graded)
        share = (counts["right"] + counts["declined"]) / len(graded)
        row = "".join(f"{counts[grade]:>13}" for grade in GRADES)
        print(f"{file.stem:<20}{len(graded):>6}{row}{share:>19.1%}")
        for one in graded if given.wrong else ():
            if one.grade not in ("right", "declined"):
                print(f"  {one.grade}: {one.phrase.text!r} -> {one.by}: {one.reply[:90]!r}")


def _lines(file: Path) -> list[FreshPhrase]:
    lines = file.read_text(encoding="utf-8").splitlines()
    if file.suffix == ".txt":
        return [
            FreshPhrase(text, "any", right) for text, right in (line.split("\t") for line in lines)
        ]
    return [FreshPhrase(*line.split("\t")) for line in lines if line and not line.startswith("#")]


async def _graded(phrases: Sequence[FreshPhrase]) -> list[GradedReply]:
    slots = asyncio.Semaphore(CONCURRENCY)

    async def ask(assistant: Assistant, number: int, phrase: FreshPhrase) -> GradedReply:
        async with slots:
            record = (await assistant.turn(phrase.text, user=f"fresh {number}")).record
        assert record is not None
        by = list(dict.fromkeys(id_.rpartition(".")[0] for id_ in record.chosen))
        return GradedReply(phrase, by, record.response, _grade(phrase, by, record.response))

    async with build_assistant(load(demo_file()), store="memory:") as assistant:
        asked = (ask(assistant, number, phrase) for number, phrase in enumerate(phrases))
        return await asyncio.gather(*asked)


def _grade(phrase: FreshPhrase, by: list[str], reply: str) -> Grade:
    if phrase.embarrassing and re.search(phrase.embarrassing, reply):
        return "embarrassing"
    if by == ["guide"] and phrase.scope != "any":
        right = False
    elif phrase.right.startswith("@"):
        right = bool(set(phrase.right[1:].split()) & set(by))
    else:
        right = bool(phrase.right) and re.search(phrase.right, reply, re.IGNORECASE) is not None
    if right:
        return "right"
    if phrase.scope == "careful":
        return "embarrassing"
    if by == ["guide"] or _DECLINES.search(reply):
        return "declined" if phrase.scope == "out" else "unknown"
    return "wrong"


if __name__ == "__main__":
    main()
