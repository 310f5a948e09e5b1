"""What agents have in common as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prolocutor.cli.evaluation_tables import clean
from prolocutor.evaluation.pairing.answer_overlap import AnswerOverlap

_SHOWN: Final = 10
_LONGEST: Final = 100


def overlap_lines(found: AnswerOverlap) -> Iterator[str]:
    """Tell what was found as tables and sentences."""
    if not found.questions:
        yield "Nobody was asked anything yet."
        return
    yield f"{found.questions:,} questions, {found.labelled:,} of them labelled or rated"
    width = max(len(clean(one.agent)) for one in found.agents)
    yield ""
    yield f"{'agent':<{width}}   asked    well   alone     won"
    for one in found.agents:
        counts = "".join(f"{n:8,}" for n in (one.asked, one.well, one.alone, one.won))
        yield f"{clean(one.agent):<{width}}{counts}"
    if found.pairs:
        yield ""
        yield "answer the same things (of what either answers well, both do)"
        for pair in found.pairs[:_SHOWN]:
            yield (
                f"  {100 * pair.alike:3.0f} %  {clean(pair.smaller)}, {clean(pair.larger)}"
                f"  ({100 * pair.covered:.0f} % of {clean(pair.smaller)}'s)"
            )
    if found.unanswered:
        yield ""
        yield f"nobody answers well: {found.nobody:,} questions, such as"
        for each in found.unanswered[:_SHOWN]:
            yield f"  {each.times:3} x  {clean(each.text, _LONGEST)}"
    if found.hints:
        yield ""
        yield from (f"hint: {clean(hint, 400)}" for hint in found.hints)
