"""The command of DeepPavlov's pipeline files."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class ConvertCommand(LazyCommand, frozen=True):
    """Write DeepPavlov Agent's pipeline file as YAML."""

    place: ClassVar[str] = "prolocutor.plugins.deeppavlov.convert:convert"
