"""What is logged, to stderr: what goes wrong, or every turn."""

from __future__ import annotations

import logging
import sys
from typing import Literal

from prolocutor.observe.logs import JsonLogFormatter

Form = Literal["plain", "json"]


def log_to_stderr(level: int, form: Form = "plain") -> None:
    """Log what is at least of this level, one line each, as text or as JSON."""
    lines = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    lines.setFormatter(JsonLogFormatter() if form == "json" else plain)
    logging.basicConfig(level=level, handlers=[lines])
