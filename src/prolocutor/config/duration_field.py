"""DurationField: a time as seconds, or as a number with its unit."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from prolocutor.bounds import Bounds
from prolocutor.config.fields import Findings, NumberField
from prolocutor.config.yaml_file import YamlNode
from prolocutor.durations import DAY, HOUR, MINUTE, WEEK

_UNITS: Final = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}
_WITH_UNIT: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([smhdw])")


class DurationField(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds as a number, or a number with its unit: 90, 90s, 15m, 12h, 7d, 2w."""

    bounds: Bounds

    def read(self, node: YamlNode, findings: Findings) -> Any:
        found = _WITH_UNIT.fullmatch(node.value) if isinstance(node.value, str) else None
        if found is not None:
            seconds = float(found[1]) * _UNITS[found[2]]
            whole = int(seconds) if seconds.is_integer() else seconds
            node = msgspec.structs.replace(node, value=whole)
        what = "seconds or a time such as 15m, 12h, 7d"
        return NumberField(what=what, bounds=self.bounds).read(node, findings)
