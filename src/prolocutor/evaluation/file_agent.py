"""FileAgent: the assistant of a file as an agent that ParlAI's own commands can make.

parlai eval_model -m prolocutor.evaluation.file_agent:FileAgent --assistant-file assistant.yaml
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import assistant_from
from prolocutor.config.loading import load
from prolocutor.errors import BadInput
from prolocutor.evaluation.assistant_agent import AssistantAgent


class FileAgent(AssistantAgent):
    """The assistant that `assistant_file` describes; its dialogs are kept in memory.

    With `assistant_store`, such as `sqlite:///dialogs.db`, they are kept there.
    """

    @classmethod
    def add_cmdline_args(cls, parser: Any, partial_opt: Any = None) -> Any:
        """Tell ParlAI's parser of the options."""
        group = parser.add_argument_group("Prolocutor")
        group.add_argument("--assistant-file", help="the YAML file of the assistant")
        group.add_argument("--assistant-store", default="memory:", help="where dialogs are kept")
        return parser

    def open_assistant(self, opt: Mapping[str, Any]) -> AbstractAsyncContextManager[Assistant]:
        """Return the assistant of the file, its processes included."""
        file = opt.get("assistant_file")
        if not file:
            raise BadInput("--assistant-file names the file of the assistant", field="opt")
        return assistant_from(load(file), store=opt.get("assistant_store") or "memory:")
