"""BudgetField: a budget as a map, or in short as `evaluate pairing` reads it: loss:0.01, top:3."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.config.fields import Findings, TableField, shown
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.plugins.pairing.selector_settings import BudgetSettings

_SHORT: Final = re.compile(r"(top|sure|gain|loss):\s?(\d*\.?\d+)")
_VALUES: Final = {"top": "calls", "sure": "sure", "gain": "per_call", "loss": "loss"}
_FOREIGN: Final = ("sure", "start", "value", "per_call", "per_second")


class BudgetField(msgspec.Struct, frozen=True, kw_only=True):
    """A map of `table`'s keys, or a text: `all`, `top:3`, `sure:0.3`, `gain:0.02`, `loss:0.01`."""

    table: TableField

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, str):
            node = _spelled_out(node, node.value.strip(), findings)
        if node.value is UNREAD:
            return UNREAD
        values = self.table.values(node, findings)
        if values is UNREAD:
            return UNREAD
        if "loss" in values:
            values.setdefault("policy", "loss")
        if wrong := _at_odds(values):
            return findings.add(node, wrong)
        return BudgetSettings(**values)


def _spelled_out(node: YamlNode, text: str, findings: Findings) -> YamlNode:
    """Return the map that a text stands for."""
    if text == "all":
        return replace(node, value={"policy": replace(node, value="all")})
    found = _SHORT.fullmatch(text)
    if found is None:
        what = "a budget: a map, all, top:3, sure:0.3, gain:0.02 or loss:0.01"
        return replace(node, value=findings.expected(node, what, found=shown(node)))
    number = float(found[2])
    value = int(number) if number.is_integer() else number
    policy = replace(node, value=found[1])
    return replace(node, value={"policy": policy, _VALUES[found[1]]: replace(node, value=value)})


def _at_odds(values: dict[str, Any]) -> str | None:
    """Say which keys contradict each other."""
    if values.get("policy") == "loss" and "loss" not in values:
        return "the key loss is missing: the share of right answers that may be lost, such as 0.01"
    if "loss" not in values:
        return None
    if values["policy"] != "loss":
        return f"loss is a policy of its own; leave out policy: {values['policy']}"
    found = [key for key in _FOREIGN if key in values]
    return f"loss finds out itself when to stop; leave out {', '.join(found)}" if found else None
