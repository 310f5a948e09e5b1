"""A module whose import ends when somebody writes to the pipe SLOW_IMPORT."""

import os
from pathlib import Path
from typing import Any

WORD = Path(os.environ["SLOW_IMPORT"]).read_text()


def word(_: Any) -> str:
    return WORD
