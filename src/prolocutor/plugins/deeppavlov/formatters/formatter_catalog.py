"""All dialog formatters by their names in a DREAM pipeline."""

from __future__ import annotations

from prolocutor.plugins.deeppavlov.formatters.bot_utterance import BOT_UTTERANCE_FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import DialogFormatter
from prolocutor.plugins.deeppavlov.formatters.dialogs import DIALOG_FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.histories import HISTORY_FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.human_utterance import HUMAN_UTTERANCE_FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.hypothesis_lists import HYPOTHESIS_FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.scripted_skills import SCRIPTED_SKILL_FORMATTERS

MODULE = "state_formatters.dp_formatters"
"""The module of DREAM in which a pipeline file looks for formatters."""

FORMATTERS: dict[str, DialogFormatter] = {
    formatter.name: formatter
    for formatters in (
        DIALOG_FORMATTERS,
        HUMAN_UTTERANCE_FORMATTERS,
        BOT_UTTERANCE_FORMATTERS,
        HYPOTHESIS_FORMATTERS,
        HISTORY_FORMATTERS,
        SCRIPTED_SKILL_FORMATTERS,
    )
    for formatter in formatters
}
