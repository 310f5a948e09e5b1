"""The keys that a file may have: one table a place, each key with the kind of its value."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.config.fields import (
    ChoiceField,
    FieldKind,
    Findings,
    FlagField,
    JsonField,
    MapField,
    NumberField,
    TableField,
    TextField,
    TextListField,
)
from prolocutor.config.selector_settings import POLICIES, BudgetSettings
from prolocutor.config.settings import AuthSettings, LimitSettings
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.pairing.unsure import Unsure
from prolocutor.pipeline.plan import Breaker
from prolocutor.processes.supervisor import ProcessCommand

DAY: Final = 86_400.0


def _seconds(*, least: float = 0, most: float = 365 * DAY) -> NumberField:
    return NumberField(what="a number of seconds", least=least, most=most)


def _positive_seconds() -> NumberField:
    return NumberField(what="a number of seconds", above=0, most=365 * DAY)


def _count(what: str, *, least: int = 1, most: float = 1e9, **words: Any) -> NumberField:
    return NumberField(
        what=f"a whole number of {what}", least=least, most=most, whole=True, words=words
    )


PORT: Final = NumberField(what="a port", least=0, most=65_535, whole=True)
PATH: Final = TextField(what="a path that starts with /", pattern=r"/\S*")
SERVICE_NAME: Final = TextField(
    what="a name of up to 100 letters, digits and . _ - : + @",
    pattern=r"\w[\w .:@+-]{0,98}\w|\w",
)
_SHARE: Final = NumberField(what="a number from 0 to 1", least=0, most=1)


class FolderField(msgspec.Struct, frozen=True, kw_only=True):
    """A folder, by its path from the file's own."""

    what: str = "a folder"

    def read(self, node: YamlNode, findings: Findings) -> Any:
        path = TextField(what=self.what).read(node, findings)
        return path if path is UNREAD else Path(findings.file).absolute().parent / path


NAMES: Final = TextListField(
    item=TextField(what="the name of a service or stage"), what="a list", single=True
)

SERVICE: Final = TableField(
    what="a service",
    also=("call",),
    keys={
        "name": SERVICE_NAME,
        "connector": TextField(what="the name of a connector"),
        "after": NAMES,
        "requires": NAMES,
        "timeout": _positive_seconds(),
        "window": _count("utterances", all=None),
        "formatter": TextField(what="a formatter's name or module:function"),
        "response_formatter": TextField(what="a formatter's name or module:function"),
        "fan_out": FlagField(),
        "wire": ChoiceField(("native", "deeppavlov")),
        "batch_size": _count("requests", most=10_000),
        "retries": _count("attempts", least=0, most=100),
        "max_in_flight": _count("calls", most=100_000),
        "rerun": FlagField(),
        "inline": FlagField(),
        "process": FlagField(),
        "breaker": TableField(
            keys={
                "failures": _count("failures"),
                "window": _positive_seconds(),
                "cooldown": _seconds(),
            },
            make=Breaker,
        ),
        "card": JsonField(),
        "icon": TextField(what="a file or URL"),
        "context": ChoiceField(("own", "all", "none")),
    },
    synonyms={
        "target": "call",
        "url": "call",
        "function": "call",
        "depends_on": "after",
        "previous_services": "after",
        "required_previous_services": "requires",
        "dialog_formatter": "formatter",
    },
)
"""A service without its `call`, which is read in `services.py`; the keys are `Service`'s fields."""

MODEL: Final = FolderField(what="the folder of a model")

ENCODER: Final = FolderField(what="the folder of an encoder")

BUDGET: Final = TableField(
    what="a budget ({policy: ...})",
    keys={
        "policy": ChoiceField(POLICIES),
        "calls": _count("calls"),
        "price": NumberField(what="a price", least=0),
        "start": _count("calls"),
        "sure": _SHARE,
        "value": NumberField(what="a worth", above=0),
        "per_call": NumberField(what="a cost", least=0),
        "per_second": NumberField(what="a cost", least=0),
        "hedge": FlagField(),
    },
    make=BudgetSettings,
)

UNSURE: Final = TableField(
    what="what to do when nobody knows ({below: ..., then: ...})",
    keys={
        "below": _SHARE,
        "then": TextField(what="fallback, clarify or the name of a skill"),
        "choices": _count("choices", most=20),
        "question": TextField(what="a question"),
    },
    make=Unsure,
)

AUTH: Final = TableField(
    keys={
        "keys": TextListField(item=TextField(what="a key", secret=True), what="a list of keys"),
        "tokens": MapField(
            item=TextField(what="a user's name"),
            name=TextField(what="a token", secret=True),
            what="a map from tokens to users",
        ),
        "anonymous": FlagField(),
    },
    make=AuthSettings,
)

LIMITS: Final = TableField(
    keys={
        "body": _count("bytes"),
        "text": _count("characters"),
        "queue": _count("inputs"),
        "connections": _count("connections"),
    },
    make=LimitSettings,
)


class CommandField(msgspec.Struct, frozen=True):
    """A command: one line, or a list of its words."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, str) and node.value.strip():
            return node.value
        if isinstance(node.value, list) and node.value:
            return TextListField(item=TextField(what="a word of a command")).read(node, findings)
        return findings.expected(node, "a command: a line, or a list of words")


def _command(run: Any, port: int | None = None, health: str | None = None) -> ProcessCommand:
    return ProcessCommand(run=run, port=port or None, health=health)


PROCESS: Final = TableField(
    what="a process ({run: ...})",
    keys={"run": CommandField(), "port": PORT, "health": PATH},
    required=("run",),
    make=_command,
)


class DoorsField(msgspec.Struct, frozen=True):
    """Which doors to open: a list of names, or a map from names to options, true or false."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        name = TextField(what="the name of a door")
        if isinstance(node.value, list):
            names = TextListField(item=name).read(node, findings)
            return names if names is UNREAD else {name: {} for name in names}
        if not isinstance(node.value, dict):
            return findings.expected(node, "a list of doors, or a map from doors to their options")
        doors: dict[str, Any] = {}
        for key, child in node.value.items():
            if isinstance(child.value, bool) or child.value is None:
                options: Any = UNREAD if child.value is False else {}
            else:
                options = JsonField(what="a map of options, true or false").read(child, findings)
            if options is not UNREAD:
                doors[key] = options
        return doors


TOP: Final[dict[str, FieldKind]] = {
    "name": TextField(what="a name"),
    "store": TextField(
        what="a store's URL such as sqlite:///dialogs.db", pattern=r"[a-z][a-z0-9+.-]*:.*"
    ),
    "durability": ChoiceField(("full", "relaxed")),
    "deadline": NumberField(what="a number of seconds", above=0, most=DAY),
    "reserve": _seconds(most=DAY),
    "queue_timeout": _positive_seconds(),
    "fallback": TextField(),
    "recover_within": _seconds(),
    "max_attributes": _count("attributes"),
    "host": TextField(what="a host's name or address", pattern=r"[^\s/]+"),
    "port": PORT,
    "auth": AUTH,
    "limits": LIMITS,
    "processes": MapField(
        item=PROCESS,
        what="a map from names to processes",
        name=TextField(what="a name of letters, digits, _ and -", pattern=r"[\w-]+"),
    ),
    "doors": DoorsField(),
}
"""The top of a file without its stages; the keys are `Settings`' fields."""
