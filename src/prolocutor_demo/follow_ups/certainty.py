"""How sure a rule is of the question that it made."""

from __future__ import annotations

from typing import Final

SURE: Final = 0.9
LIKELY: Final = 0.75
GUESS: Final = 0.6

Found = tuple[str, float] | None
"""A whole question and how sure it is; None where a rule does not apply."""
