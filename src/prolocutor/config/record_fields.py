"""The key of a file that says how long records of turns are kept: `records`."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from prolocutor.assistant.record_settings import RecordSettings
from prolocutor.bounds import bounds_of
from prolocutor.config.fields import Findings, NumberField, TableField
from prolocutor.config.yaml_file import YamlNode


class KeepField(msgspec.Struct, frozen=True):
    """A time as seconds, or with its unit: 90, 90s, 30m, 12h, 7d, 2w."""

    bounds: NumberField

    def read(self, node: YamlNode, findings: Findings) -> Any:
        with_unit = re.fullmatch(r"(\d+(?:\.\d+)?) ?([smhdw])", str(node.value))
        if isinstance(node.value, str) and with_unit is not None:
            seconds = float(with_unit[1]) * _UNITS[with_unit[2]]
            node = msgspec.structs.replace(node, value=seconds)
        return self.bounds.read(node, findings)


_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

RECORDS_TABLE: Final = TableField(
    what="a map of keep, most and slow, or false",
    keys={
        "keep": KeepField(
            NumberField(
                what="a number of seconds, or with a unit as in 12h or 7d,",
                bounds=bounds_of(RecordSettings, "keep"),
            )
        ),
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
