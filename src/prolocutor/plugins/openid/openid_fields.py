"""The keys of `auth.openid`: the identity provider that people sign in with."""

from __future__ import annotations

import re
from typing import Any, Final, get_args
from urllib.parse import urlsplit

import msgspec

from prolocutor.bounds import Bounds
from prolocutor.config.duration_field import DurationField
from prolocutor.config.fields import (
    FieldKind,
    Findings,
    FlagField,
    MapField,
    TableField,
    TextField,
    TextListField,
    named,
)
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.contracts.http import KeyScope
from prolocutor.durations import DAY
from prolocutor.names import did_you_mean
from prolocutor.plugins.openid.openid_settings import ClaimRule, OpenIdSettings

SCOPES: Final[tuple[str, ...]] = get_args(KeyScope)
MONTH: Final = 30 * DAY
_LOCAL: Final = re.compile(r"localhost|.+\.localhost|127(?:\.\d+){3}|::1")


class AddressField(msgspec.Struct, frozen=True, kw_only=True):
    """An `https` URL without a query; `http` only on this machine."""

    what: str

    def read(self, node: YamlNode, findings: Findings) -> Any:
        text = TextField(what=self.what, pattern=r"https?://[^\s?#]+").read(node, findings)
        if text is UNREAD:
            return text
        try:
            parts = urlsplit(text)
            host = parts.hostname or ""
        except ValueError:
            return findings.expected(node, self.what)
        if parts.scheme == "http" and not _LOCAL.fullmatch(host):
            return findings.add(node, "without TLS anybody on the way could sign in: use https://")
        return text


class ScopesField(msgspec.Struct, frozen=True):
    """What operators may do: one scope or a list."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        what = f"a list of {', '.join(SCOPES)}"
        given = TextListField(item=TextField(what="a scope"), what=what, single=True).read(
            node, findings
        )
        for one in () if given is UNREAD else given:
            if one not in SCOPES:
                what = f"there is no scope {one!r}; there are {', '.join(SCOPES)}"
                return findings.add(node, what, did_you_mean(one, SCOPES))
        return given


class ValuesField(msgspec.Struct, frozen=True):
    """The values of a claim: one or a list; `true` stands for a claim that has to be true."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if node.value is True:
            return []
        item = TextField(what="a value of the claim")
        what = "a value of the claim, a list of such, or true"
        return TextListField(item=item, what=what, single=True).read(node, findings)


def _rule(claim: str, values: Any = (), value: Any = (), scopes: Any = ()) -> ClaimRule:
    more = {"scopes": tuple(scopes)} if scopes else {}
    return ClaimRule(claim=claim, values=(*values, *value), **more)


_RULE: Final = TableField(
    what="a rule such as {claim: groups, values: [support]}",
    keys={
        "claim": TextField(what="the name of a claim"),
        "values": ValuesField(),
        "value": ValuesField(),
        "scopes": ScopesField(),
    },
    required=("claim",),
    make=_rule,
)


_ROLES: Final = TableField(
    what="a rule such as {claim: roles, values: {support: [operate, read]}}",
    keys={
        "claim": TextField(what="the name of a claim"),
        "values": MapField(
            item=ScopesField(),
            name=TextField(what="a value of the claim"),
            what="a map from the values of the claim to scopes",
        ),
    },
    required=("claim",),
)


def _values_of(node: YamlNode) -> Any:
    found = node.value.get("values") if isinstance(node.value, dict) else None
    return None if found is None else found.value


class RulesField(msgspec.Struct, frozen=True, kw_only=True):
    """Rules about claims: one, a list, or in short a map from claims to their values.

    `flags`: true and false stand for everybody and nobody.
    """

    flags: bool = False

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if self.flags and isinstance(node.value, bool):
            return node.value
        nodes = node.value if isinstance(node.value, list) else [node]
        rules: list[Any] = []
        for one in nodes:
            rules += self._rules(one, findings)
        return UNREAD if UNREAD in rules else tuple(rules)

    def _rules(self, node: YamlNode, findings: Findings) -> list[Any]:
        if not isinstance(node.value, dict) or not node.value:
            flags = ", true or false" if self.flags else ""
            what = f"a rule such as {{claim: groups, values: [support]}}, a list of such{flags}"
            return [findings.expected(node, what)]
        if "claim" in node.value and isinstance(_values_of(node), dict):
            return self._by_value(node, findings)
        if "claim" in node.value:
            return [_RULE.read(node, findings)]
        if near := next(
            (key for key in node.value if did_you_mean(key, ("claim", "scopes"))), None
        ):
            what = f"the key claim is missing beside {near!r}"
            return [findings.add(node, what, "write {claim: groups, values: [support]}")]
        return [self._short(claim, child, findings) for claim, child in node.value.items()]

    def _by_value(self, node: YamlNode, findings: Findings) -> list[Any]:
        """Read `{claim: roles, values: {lead: [admin], support: [operate, read]}}`."""
        read = _ROLES.read(node, findings)
        if read is UNREAD:
            return [UNREAD]
        claim, scopes = read["claim"], read["values"]
        return [
            ClaimRule(claim=claim, values=(value,), scopes=tuple(some))
            for value, some in scopes.items()
        ]

    def _short(self, claim: str, node: YamlNode, findings: Findings) -> Any:
        TextField(what="the name of a claim").read(named(node, claim), findings)
        values = ValuesField().read(node, findings)
        return UNREAD if values is UNREAD else ClaimRule(claim=claim, values=tuple(values))


class OpenIdField(msgspec.Struct, frozen=True):
    """The identity provider that people sign in with."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        read = OPENID.read(node, findings)
        if isinstance(read, OpenIdSettings) and not (read.persons or read.operators):
            return findings.add(node, "nobody could sign in: set operators or persons")
        return read


def _settings(**values: Any) -> OpenIdSettings:
    if "scopes" in values:
        values["scopes"] = tuple(values["scopes"])
    return OpenIdSettings(**values)


_KEYS: Final[dict[str, FieldKind | FlagField]] = {
    "issuer": AddressField(what="the provider's URL such as https://id.example.org"),
    "client_id": TextField(what="the id that the provider gave this client"),
    "client_secret": TextField(what="the secret that the provider gave", secret=True),
    "scopes": TextListField(
        item=TextField(what="a scope such as profile", pattern=r"[!#-\[\]-~]+"),
        what="a list of the provider's scopes",
        single=True,
    ),
    "operators": RulesField(),
    "persons": RulesField(flags=True),
    "name": TextField(what="the name of a claim"),
    "url": AddressField(what="the URL of this server such as https://chat.example.org"),
    "session": DurationField(bounds=Bounds(least=60, most=MONTH)),
    "idle": DurationField(bounds=Bounds(least=60, most=MONTH)),
    "recheck": DurationField(bounds=Bounds(least=1, most=MONTH)),
    "clock_skew": DurationField(bounds=Bounds(least=0, most=600)),
}

OPENID: Final = TableField(
    what="a map of issuer, client_id and so on",
    keys=_KEYS,
    required=("issuer", "client_id"),
    make=_settings,
    synonyms={"secret": "client_secret", "client": "client_id", "redirect_uri": "url"},
)
