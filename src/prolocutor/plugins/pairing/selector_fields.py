"""The keys that selectors by pairing have of their own, by what they are."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.bounds import bounds_of
from prolocutor.config.fields import DurationField, Findings, NumberField, TableField
from prolocutor.config.schema import (
    BUDGET,
    ENCODER,
    MODEL,
    NEWCOMERS,
    UNSURE,
)
from prolocutor.config.yaml_file import YamlNode
from prolocutor.plugins.pairing.budget_field import BudgetField
from prolocutor.plugins.pairing.hints.turn_hints import HINT_KINDS, HintSettings
from prolocutor.plugins.pairing.method_catalog import Role

HINTS: Final = TableField(
    what="true or false, or what hints count for ({again: ..., rejected: ...})",
    keys={
        **{kind: NumberField(bounds=bounds_of(HintSettings, kind)) for kind in HINT_KINDS},
        "within": DurationField(bounds=bounds_of(HintSettings, "within")),
        "keep": DurationField(bounds=bounds_of(HintSettings, "keep")),
        "most": NumberField(what="a whole number of hints", bounds=bounds_of(HintSettings, "most")),
    },
    make=HintSettings,
)


class HintsField(msgspec.Struct, frozen=True, kw_only=True):
    """`true` for the defaults, `false` for none, or a map of `table`'s keys."""

    table: TableField

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, bool):
            return HintSettings() if node.value else None
        if node.value is None:
            return findings.expected(node, self.table.what)
        return self.table.read(node, findings)


SELECTOR_FIELDS: Final[dict[Role, dict[str, Any]]] = {
    "router": {
        "model": MODEL,
        "encoder": ENCODER,
        "budget": BudgetField(table=BUDGET),
        "hints": HintsField(table=HINTS),
        "newcomers": NEWCOMERS,
    },
    "ranker": {
        "model": MODEL,
        "encoder": ENCODER,
        "unsure": UNSURE,
    },
}
