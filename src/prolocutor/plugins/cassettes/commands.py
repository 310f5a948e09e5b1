"""The commands of recorded conversations."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class RecordCommand(LazyCommand, frozen=True):
    """Record the conversations of another command as tests."""

    place: ClassVar[str] = "prolocutor.plugins.cassettes.record_command:record"


class TestCommand(LazyCommand, frozen=True):
    """Test an assistant by recorded and written conversations, or by simulated people."""

    __test__: ClassVar[bool] = False  # it is not a test of pytest's
    place: ClassVar[str] = "prolocutor.plugins.cassettes.test_command:test"
