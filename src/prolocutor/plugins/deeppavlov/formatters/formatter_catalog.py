"""All dialog formatters: the modules that add them, and where DREAM has them."""

from prolocutor.plugins.deeppavlov.formatters import (  # noqa: F401  (each adds its own)
    bot_utterance,
    dialogs,
    histories,
    human_utterance,
    hypothesis_lists,
    scripted_skills,
)
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import FORMATTERS as FORMATTERS

MODULE = "state_formatters.dp_formatters"
"""The module of DREAM in which a pipeline file looks for formatters."""
