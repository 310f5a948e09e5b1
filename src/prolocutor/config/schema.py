"""The keys that a file may have: one table a place, each key with the kind of its value."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.config.kinds import (
    Choice,
    Data,
    Findings,
    Flag,
    Kind,
    MapOf,
    Number,
    Table,
    Text,
    Words,
)
from prolocutor.config.selecting import POLICIES, Budget
from prolocutor.config.settings import Auth, Limits
from prolocutor.config.yaml_file import UNREAD, Node
from prolocutor.pairing.unsure import Unsure
from prolocutor.pipeline.plan import Breaker
from prolocutor.processes.supervisor import ProcessCommand

DAY: Final = 86_400.0


def _seconds(*, least: float = 0, most: float = 365 * DAY) -> Number:
    return Number(what="a number of seconds", least=least, most=most)


def _positive_seconds() -> Number:
    return Number(what="a number of seconds", above=0, most=365 * DAY)


def _count(what: str, *, least: int = 1, most: float = 1e9, **words: Any) -> Number:
    return Number(what=f"a whole number of {what}", least=least, most=most, whole=True, words=words)


PORT: Final = Number(what="a port", least=0, most=65_535, whole=True)
PATH: Final = Text(what="a path that starts with /", pattern=r"/\S*")
SERVICE_NAME: Final = Text(
    what="a name of up to 100 letters, digits and . _ - : + @",
    pattern=r"\w[\w .:@+-]{0,98}\w|\w",
)
_SHARE: Final = Number(what="a number from 0 to 1", least=0, most=1)


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder, by its path from the file's own."""

    what: str = "a folder"

    def read(self, node: Node, findings: Findings) -> Any:
        path = Text(what=self.what).read(node, findings)
        return path if path is UNREAD else Path(findings.file).absolute().parent / path


NAMES: Final = Words(item=Text(what="the name of a service or stage"), what="a list", single=True)

SERVICE: Final = Table(
    what="a service",
    also=("call",),
    keys={
        "name": SERVICE_NAME,
        "connector": Text(what="the name of a connector"),
        "after": NAMES,
        "requires": NAMES,
        "timeout": _positive_seconds(),
        "window": _count("utterances", all=None),
        "formatter": Text(what="a formatter's name or module:function"),
        "response_formatter": Text(what="a formatter's name or module:function"),
        "fan_out": Flag(),
        "wire": Choice(("native", "deeppavlov")),
        "batch_size": _count("requests", most=10_000),
        "retries": _count("attempts", least=0, most=100),
        "max_in_flight": _count("calls", most=100_000),
        "rerun": Flag(),
        "inline": Flag(),
        "process": Flag(),
        "breaker": Table(
            keys={
                "failures": _count("failures"),
                "window": _positive_seconds(),
                "cooldown": _seconds(),
            },
            make=Breaker,
        ),
        "card": Data(),
        "icon": Text(what="a file or URL"),
        "context": Choice(("own", "all", "none")),
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

MODEL: Final = Folder(what="the folder of a model")

ENCODER: Final = Folder(what="the folder of an encoder")

BUDGET: Final = Table(
    what="a budget ({policy: ...})",
    keys={
        "policy": Choice(POLICIES),
        "calls": _count("calls"),
        "price": Number(what="a price", least=0),
        "start": _count("calls"),
        "sure": _SHARE,
        "value": Number(what="a worth", above=0),
        "per_call": Number(what="a cost", least=0),
        "per_second": Number(what="a cost", least=0),
        "hedge": Flag(),
    },
    make=Budget,
)

UNSURE: Final = Table(
    what="what to do when nobody knows ({below: ..., then: ...})",
    keys={
        "below": _SHARE,
        "then": Text(what="fallback, clarify or the name of a skill"),
        "choices": _count("choices", most=20),
        "question": Text(what="a question"),
    },
    make=Unsure,
)

AUTH: Final = Table(
    keys={
        "keys": Words(item=Text(what="a key", secret=True), what="a list of keys"),
        "tokens": MapOf(
            item=Text(what="a user's name"),
            name=Text(what="a token", secret=True),
            what="a map from tokens to users",
        ),
        "anonymous": Flag(),
    },
    make=Auth,
)

LIMITS: Final = Table(
    keys={
        "body": _count("bytes"),
        "text": _count("characters"),
        "queue": _count("inputs"),
        "connections": _count("connections"),
    },
    make=Limits,
)


class CommandLine(msgspec.Struct, frozen=True):
    """A command: one line, or a list of its words."""

    def read(self, node: Node, findings: Findings) -> Any:
        if isinstance(node.value, str) and node.value.strip():
            return node.value
        if isinstance(node.value, list) and node.value:
            return Words(item=Text(what="a word of a command")).read(node, findings)
        return findings.expected(node, "a command: a line, or a list of words")


def _command(run: Any, port: int | None = None, health: str | None = None) -> ProcessCommand:
    return ProcessCommand(run=run, port=port or None, health=health)


PROCESS: Final = Table(
    what="a process ({run: ...})",
    keys={"run": CommandLine(), "port": PORT, "health": PATH},
    required=("run",),
    make=_command,
)


class Doors(msgspec.Struct, frozen=True):
    """Which doors to open: a list of names, or a map from names to options, true or false."""

    def read(self, node: Node, findings: Findings) -> Any:
        name = Text(what="the name of a door")
        if isinstance(node.value, list):
            names = Words(item=name).read(node, findings)
            return names if names is UNREAD else {name: {} for name in names}
        if not isinstance(node.value, dict):
            return findings.expected(node, "a list of doors, or a map from doors to their options")
        doors: dict[str, Any] = {}
        for key, child in node.value.items():
            if isinstance(child.value, bool) or child.value is None:
                options: Any = UNREAD if child.value is False else {}
            else:
                options = Data(what="a map of options, true or false").read(child, findings)
            if options is not UNREAD:
                doors[key] = options
        return doors


TOP: Final[dict[str, Kind]] = {
    "name": Text(what="a name"),
    "store": Text(
        what="a store's URL such as sqlite:///dialogs.db", pattern=r"[a-z][a-z0-9+.-]*:.*"
    ),
    "durability": Choice(("full", "relaxed")),
    "deadline": Number(what="a number of seconds", above=0, most=DAY),
    "reserve": _seconds(most=DAY),
    "queue_timeout": _positive_seconds(),
    "fallback": Text(),
    "recover_within": _seconds(),
    "max_attributes": _count("attributes"),
    "host": Text(what="a host's name or address", pattern=r"[^\s/]+"),
    "port": PORT,
    "auth": AUTH,
    "limits": LIMITS,
    "processes": MapOf(
        item=PROCESS,
        what="a map from names to processes",
        name=Text(what="a name of letters, digits, _ and -", pattern=r"[\w-]+"),
    ),
    "doors": Doors(),
}
"""The top of a file without its stages; the keys are `Settings`' fields."""
