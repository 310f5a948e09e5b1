"""Commands for users of DeepPavlov Agent."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class ConvertCommand(LazyCommand, frozen=True):
    """Write DeepPavlov Agent's pipeline file as YAML."""

    place: ClassVar[str] = "prolocutor.plugins.deeppavlov.convert:convert"


class ImportDreamCommand(LazyCommand, frozen=True):
    """Import DeepPavlov Agent's dialogs from MongoDB."""

    place: ClassVar[str] = "prolocutor.plugins.deeppavlov.import_dream:import_dream"
