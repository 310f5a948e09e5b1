"""The key of a file that says how long records of turns are kept: `records`."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.assistant.record_settings import RecordSettings
from prolocutor.bounds import bounds_of
from prolocutor.config.duration_field import DurationField
from prolocutor.config.fields import Findings, NumberField, TableField
from prolocutor.config.yaml_file import YamlNode

RECORDS_TABLE: Final = TableField(
    what="a map of keep, most and slow, or false",
    keys={
        "keep": DurationField(bounds=bounds_of(RecordSettings, "keep")),
        "most": NumberField(
            what="a whole number of records", bounds=bounds_of(RecordSettings, "most")
        ),
        "slow": NumberField(what="a number of seconds", bounds=bounds_of(RecordSettings, "slow")),
    },
    make=RecordSettings,
)


class RecordsField(msgspec.Struct, frozen=True):
    """How long records of turns are kept; false for none at all."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, bool):
            return RecordSettings() if node.value else None
        return RECORDS_TABLE.read(node, findings)
