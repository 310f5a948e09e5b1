"""Vectors of texts as methods read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

Vectors = Mapping[str, Any]
"""Texts and their vectors, NumPy arrays of norm 1."""

NO_VECTORS: Final[Vectors] = {}


class TextMeaning(msgspec.Struct, frozen=True):
    """The vectors of texts, or the fault for which there are none."""

    vectors: Vectors
    fault: str = ""
