"""The keys that a file may have: one table for each place, with the kind of each value.

Bounds are those of the Structs that the values become."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.assistant.handover_settings import HandoverSettings
from prolocutor.bounds import bounds_of, words_of
from prolocutor.config.access_fields import AUTH, ProxiesField
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
from prolocutor.config.record_fields import RecordsField
from prolocutor.config.settings import Settings
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.errors import ConfigError
from prolocutor.plan import graph
from prolocutor.plan.pipeline import Breaker, Pipeline, Service
from prolocutor.plugins.nats.nats_address import read_servers
from prolocutor.plugins.pairing.abstention import AbstentionRule
from prolocutor.plugins.pairing.question_agent.newcomers import NewcomerSettings
from prolocutor.plugins.pairing.selector_settings import BudgetSettings
from prolocutor.processes.supervisor import ProcessCommand
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.quotas import QUOTA_WORDS, VisitorQuotas


def _number(struct: type[msgspec.Struct], name: str, what: str, **words: Any) -> NumberField:
    """Return the kind of a numeric field, with the bounds that its Struct gives it."""
    bounds = bounds_of(struct, name)
    number = f"a whole number of {what}" if bounds.whole else f"a number{what and f' of {what}'}"
    return NumberField(
        what=f"{number} from 0 to 1" if (bounds.least, bounds.most) == (0, 1) else number,
        bounds=bounds,
        words=words,
    )


def _seconds(struct: type[msgspec.Struct], name: str) -> NumberField:
    return _number(struct, name, "seconds")


PORT: Final = NumberField(what="a port", bounds=bounds_of(Settings, "port"))
ORIGIN: Final = r"\*|https?://[^\s/?#@*]+"
PATH: Final = TextField(what="a path that starts with /", pattern=r"/\S*")
SERVICE_NAME: Final = TextField(what=graph.NAME_RULE, pattern=graph.SERVICE_NAME)


class NatsField(msgspec.Struct, frozen=True):
    """The URL of NATS servers, which may hold a password and so is never shown."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        servers = TextField(what="nats://HOST[:PORT][,HOST...]", secret=True).read(node, findings)
        if servers is not UNREAD:
            try:
                read_servers(servers)
            except ConfigError as error:
                return findings.add(node, error.what)
        return servers


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
        "timeout": _seconds(Service, "timeout"),
        "window": _number(Service, "window", "utterances", all=None),
        "formatter": TextField(what="a formatter's name or module:function"),
        "response_formatter": TextField(what="a formatter's name or module:function"),
        "fan_out": FlagField(),
        "wire": ChoiceField(words_of(Service, "wire")),
        "batch_size": _number(Service, "batch_size", "requests"),
        "retries": _number(Service, "retries", "attempts"),
        "max_in_flight": _number(Service, "max_in_flight", "calls"),
        "rerun": FlagField(),
        "rewrites": FlagField(),
        "inline": FlagField(),
        "together": FlagField(),
        "process": FlagField(),
        "breaker": TableField(
            keys={
                "failures": _number(Breaker, "failures", "failures"),
                "window": _seconds(Breaker, "window"),
                "cooldown": _seconds(Breaker, "cooldown"),
            },
            make=Breaker,
        ),
        "card": JsonField(),
        "icon": TextField(what="a file or URL"),
        "context": ChoiceField(words_of(Service, "context")),
        "formatter_options": JsonField(what="a map of arguments"),
        "label": TextField(what="the name of an annotation"),
        "writes": ChoiceField(words_of(Service, "writes")),
        "selects": FlagField(),
        "always": FlagField(),
        "first_turn_attributes": JsonField(what="a map of attributes"),
        "mismatch": ChoiceField(words_of(Service, "mismatch")),
        "carries": ChoiceField(words_of(Service, "carries")),
        "format": ChoiceField(words_of(Service, "format")),
        "before_confidence": FlagField(),
        "lingers": _seconds(Service, "lingers"),
        "commit": ChoiceField(words_of(Pipeline, "commit")),
        "instead": TextField(what="a URL or module:function"),
        "worker": TextField(what="module:function or a URL"),
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
        "policy": ChoiceField(words_of(BudgetSettings, "policy")),
        "calls": _number(BudgetSettings, "calls", "calls"),
        "price": _number(BudgetSettings, "price", ""),
        "start": _number(BudgetSettings, "start", "calls"),
        "sure": _number(BudgetSettings, "sure", ""),
        "value": _number(BudgetSettings, "value", ""),
        "per_call": _number(BudgetSettings, "per_call", ""),
        "per_second": _number(BudgetSettings, "per_second", ""),
        "loss": _number(BudgetSettings, "loss", ""),
        "hedge": FlagField(),
    },
    make=BudgetSettings,
)

NEWCOMERS: Final = TableField(
    what="how new agents are tried out ({ask: ..., turns: ...})",
    keys={
        "ask": _number(NewcomerSettings, "ask", ""),
        "turns": _number(NewcomerSettings, "turns", "turns"),
    },
    make=NewcomerSettings,
)

UNSURE: Final = TableField(
    what="what to do when nobody knows ({below: ..., then: ...})",
    keys={
        "below": _number(AbstentionRule, "below", ""),
        "then": TextField(what="fallback, clarify, person or the name of a skill"),
        "choices": _number(AbstentionRule, "choices", "choices"),
        "question": TextField(what="a question"),
        "person": TextField(),
    },
    make=AbstentionRule,
)


def _quotas(scope: str) -> TableField:
    """Return the kind of a map of quotas; what it does not name stays as it is by default."""
    usual: VisitorQuotas = getattr(ListenerLimits(), scope)
    keys = {
        name: _number(VisitorQuotas, name, words, unlimited=None)
        for name, words in QUOTA_WORDS.items()
    }
    return TableField(what="a map of quotas", keys=keys, make=partial(replace, usual))


LIMITS: Final = TableField(
    keys={
        "body": _number(ListenerLimits, "body", "bytes"),
        "text": _number(Settings, "max_text", "characters"),
        "queue": _number(Settings, "queue_limit", "inputs"),
        "connections": _number(ListenerLimits, "connections", "connections"),
        "person": _quotas("person"),
        "token": _quotas("token"),
        "address": _quotas("address"),
        "anonymous": _quotas("anonymous"),
        "keep_alive": _number(ListenerLimits, "keep_alive", "seconds"),
        "wrong_keys": _number(ListenerLimits, "wrong_keys", "keys"),
    },
)
"""Of the assistant (`text`, `queue`) and of the listener."""


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


class LeaseField(msgspec.Struct, frozen=True):
    """Seconds as a number, or with their unit: 3, 3s, 500ms."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        with_unit = re.fullmatch(r"(\d+(?:\.\d+)?) ?(ms|s)", str(node.value))
        if isinstance(node.value, str) and with_unit is not None:
            seconds = float(with_unit[1]) / (1000 if with_unit[2] == "ms" else 1)
            node = msgspec.structs.replace(node, value=seconds)
        return _seconds(ReplicaSettings, "lease").read(node, findings)


REPLICA_TABLE: Final = TableField(
    what="a map of lease and url",
    keys={
        "lease": LeaseField(),
        "url": TextField(what="a URL", pattern=r"https?://\S+"),
    },
    make=ReplicaSettings,
)


TOP: Final[dict[str, FieldKind]] = {
    "name": TextField(what="a name"),
    "store": TextField(
        what="a store's URL such as sqlite:///dialogs.db", pattern=r"memory|[a-z][a-z0-9+.-]*:.*"
    ),
    "durability": ChoiceField(words_of(Settings, "durability")),
    "deadline": _seconds(Settings, "deadline"),
    "reserve": _seconds(Settings, "reserve"),
    "queue_timeout": _seconds(Settings, "queue_timeout"),
    "fallback": TextField(),
    "recover_within": _seconds(Settings, "recover_within"),
    "max_attributes": _number(Settings, "max_attributes", "attributes"),
    "replica": REPLICA_TABLE,
    "records": RecordsField(),
    "host": TextField(what="a host's name or address", pattern=r"[^\s/]+"),
    "port": PORT,
    "auth": AUTH,
    "origins": TextListField(
        item=TextField(what="an origin such as https://example.org, or *", pattern=ORIGIN),
        what="a list of origins",
        single=True,
    ),
    "limits": LIMITS,
    "trusted_proxies": ProxiesField(),
    "processes": MapField(
        item=PROCESS,
        what="a map from names to processes",
        name=TextField(what="a name of letters, digits, _ and -", pattern=r"[\w-]+"),
    ),
    "doors": DoorsField(),
    "starters": TextListField(item=TextField(what="a text to begin with")),
    "handover": TableField(
        keys={
            "idle": _seconds(HandoverSettings, "idle"),
            "webhook": TextField(what="a URL", pattern=r"https?://\S+"),
            "waiting": ChoiceField(words_of(HandoverSettings, "waiting")),
            "taken": TextField(),
            "given": TextField(),
            "missed": TextField(),
        },
        make=HandoverSettings,
    ),
    "commit": ChoiceField(words_of(Pipeline, "commit")),
    "messages": NatsField(),
    "user_snapshot": ChoiceField(words_of(Pipeline, "user_snapshot")),
    "own_words": FlagField(),
}
"""The top of a file without its stages; the keys are `Settings`' fields, or its pipeline's."""
