"""The commands by which people write assistants and their documentation."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class NewCommand(LazyCommand, frozen=True):
    """Write a small assistant of your own."""

    place: ClassVar[str] = "prolocutor.plugins.authoring.add_command:new"


class AddCommand(LazyCommand, frozen=True):
    """Add what is behind a URL to an assistant's file."""

    place: ClassVar[str] = "prolocutor.plugins.authoring.add_command:add"


class SchemaCommand(LazyCommand, frozen=True):
    """Print the JSON Schema of an assistant's file, for editors."""

    place: ClassVar[str] = "prolocutor.plugins.authoring.reference:schema"


class ReferenceCommand(LazyCommand, frozen=True):
    """Print what keys and plug-ins take, as tables of Markdown."""

    place: ClassVar[str] = "prolocutor.plugins.authoring.reference:reference"
