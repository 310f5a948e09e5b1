"""The keys of a file that say who may come in: `auth` and `trusted_proxies`."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.config.fields import (
    Findings,
    FlagField,
    MapField,
    TableField,
    TextField,
    TextListField,
)
from prolocutor.config.settings import AuthSettings
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.errors import ConfigError
from prolocutor.plugins.openid.openid_fields import OpenIdField
from prolocutor.web.client_address import network_of


class KeysField(msgspec.Struct, frozen=True):
    """The keys of operators: a list, or a map from the operators' names to their keys.

    Read as a map from key to name, "" in a list.
    """

    def read(self, node: YamlNode, findings: Findings) -> Any:
        key = TextField(what="a key", secret=True)
        if isinstance(node.value, dict):
            names = TextField(
                what="an operator's name of at most 100 characters", pattern=r".{1,100}"
            )
            read = MapField(item=key, name=names).read(node, findings)
            return {secret: name for name, secret in read.items()}
        what = "a list of keys, or a map from operators to their keys"
        keys = TextListField(item=key, what=what).read(node, findings)
        return keys if keys is UNREAD else dict.fromkeys(keys, "")


class ProxiesField(msgspec.Struct, frozen=True):
    """Proxies that are trusted: a list of addresses and networks."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        what = "a list of addresses and networks such as 10.0.0.0/8"
        item = TextField(what="an address or a network such as 10.0.0.0/8")
        proxies = TextListField(item=item, what=what, single=True).read(node, findings)
        if proxies is not UNREAD:
            for proxy in proxies:
                try:
                    network_of(proxy)
                except ConfigError as error:
                    return findings.add(node, error.what)
        return proxies


AUTH: Final = TableField(
    keys={
        "keys": KeysField(),
        "tokens": MapField(
            item=TextField(what="a user's name"),
            name=TextField(what="a token", secret=True),
            what="a map from tokens to users",
        ),
        "anonymous": FlagField(),
        "loopback": FlagField(),
        "openid": OpenIdField(),
    },
    make=AuthSettings,
)
