"""Selection: asking skills in waves, the next wave chosen from the answers so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec


class Enough(msgspec.Struct, frozen=True):
    """No further answer is wanted, and why."""

    reason: str = ""


enough: Final = Enough()
"""What `more` returns when no further answer is wanted; running skills are then cancelled."""

More = Callable[..., "Sequence[str] | Selection | Enough | None"]
"""Gets the hypotheses so far and the seconds left; a plain function, it must answer at once."""


class Selection(msgspec.Struct, frozen=True):
    """Whom to ask at once (`first`), who decides whom to ask next (`more`), and the `reason`.

    What of a reason quotes people stands in brackets at its end, and is left out where they are.

    Whenever a called skill settles, the engine calls `more(hypotheses_so_far, seconds_left)`: the
    agent state of all hypotheses so far, in declared order, and the seconds left for skills; a
    `more` with a parameter `settled` gets the names of the skills that have settled as well, those
    that failed included. It returns further names (or a `Selection` of them, with its reason),
    nothing yet (None or an empty list), or `enough`. When no skill is running and `more` names
    nobody, the selection is over.
    """

    first: list[str]
    more: More | None = None
    reason: str = ""
