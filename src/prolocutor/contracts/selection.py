"""Selection: asking skills in waves, the next wave chosen from the answers so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec


class Enough:
    """The type of `enough`."""

    def __repr__(self) -> str:
        return "enough"


enough: Final = Enough()
"""What `more` returns when no further answer is wanted; running skills are then cancelled."""

More = Callable[[list[dict[str, Any]], float], Sequence[str] | Enough | None]
"""Gets the hypotheses so far and the seconds left; a plain function, it must answer at once."""


class Selection(msgspec.Struct, frozen=True):
    """Whom to ask at once (`first`), and who decides whom to ask next (`more`).

    Whenever a called skill settles, the engine calls `more(hypotheses_so_far, seconds_left)`: the
    agent state of all hypotheses so far, in declared order, and the seconds left for skills. It
    returns further names, nothing yet (None or an empty list), or `enough`. When no skill is
    running and `more` names nobody, the selection is over.
    """

    first: list[str]
    more: More | None = None
