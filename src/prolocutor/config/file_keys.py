"""The keys at the top of an assistant's file."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.wiring import BROKER_URLS
from prolocutor.catalog import Catalog
from prolocutor.config.fields import Findings, JsonSchema, ListField, TableField, TextField
from prolocutor.config.service_entries import ServicesField, call_schemas
from prolocutor.config.settings import Addition, AuthSettings, Settings
from prolocutor.config.struct_fields import struct_table
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.doors.door_catalog import DOORS, SIGN_IN
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plan.pipeline import Pipeline, Stage

ADDITIONS: Final = Catalog[type[Addition]](
    "key of a file", "prolocutor.file_keys", needs=("added_to",)
)
"""Keys at the top of a file that add something to the pipeline."""

AUTH: Final = struct_table(AuthSettings)

OF_PIPELINE: Final = ("commit", "user_snapshot", "own_words")
"""The settings of a pipeline that stand at the top of a file."""


def read_options(catalog: Catalog[Any], name: str, node: YamlNode, findings: Findings) -> object:
    """Return a plug-in's options; UNREAD after recording faults of its name or options."""
    try:
        loaded = catalog.load(name)
    except ConfigError as error:
        return findings.add(node, error.what)
    except BadInput as error:
        return findings.add(node, str(error))
    return struct_table(loaded).read(node, findings)


def plugged_tables(catalog: Catalog[Any]) -> dict[str, TableField]:
    """Return the keys of the options of all installed plug-ins, by the plug-in's name."""
    return {name: struct_table(loaded) for name, loaded in catalog.import_all()}


def docstring_summary(options: object) -> str:
    """Return the first line of the docstring of a plug-in's options."""
    return (getattr(options, "__doc__", None) or "").partition("\n")[0]


class DoorsField(msgspec.Struct, frozen=True):
    """Which doors to open: a list of names, or a map from names to options, true or false."""

    what: str = "a list of doors, or a map from doors to their options"

    def read(self, node: YamlNode, findings: Findings) -> Any:
        name = TextField(what="the name of a door")
        if isinstance(node.value, list):
            names = ListField(item=name).read(node, findings)
            if names is UNREAD:
                return UNREAD
            entries = dict(zip(names, node.value, strict=True))
        elif isinstance(node.value, dict):
            entries = {key: one for key, one in node.value.items() if one.value is not False}
        else:
            return findings.note_unexpected(node, self.what)
        doors: dict[str, Any] = {}
        for key, child in entries.items():
            bare = child.value is True or child.value is None or isinstance(node.value, list)
            options = read_options(
                DOORS, key, replace(child, value={}) if bare else child, findings
            )
            if options is not UNREAD:
                doors[key] = options
        return doors

    def schema(self) -> JsonSchema:
        options = plugged_tables(DOORS)
        flag = {"type": ["boolean", "null"]}
        several = {
            key: {"description": docstring_summary(one.make), "anyOf": [one.schema(), flag]}
            for key, one in options.items()
        }
        return {
            "anyOf": [
                {"type": "array", "items": {"enum": list(options)}},
                {"type": "object", "properties": several, "additionalProperties": False},
            ]
        }


class PluggedField(msgspec.Struct, frozen=True):
    """A map from the names of plug-ins of one catalog to their options."""

    catalog: Catalog[Any]

    @property
    def what(self) -> str:
        return f"a map from each {self.catalog.what} to its options"

    @property
    def table(self) -> TableField:
        """The installed plug-ins with options."""
        tables = {name: one for name, one in plugged_tables(self.catalog).items() if one.keys}
        described = {name: docstring_summary(table.make) for name, table in tables.items()}
        return TableField(keys=tables, descriptions=described)

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if node.value is None:
            return {}
        if not isinstance(node.value, dict):
            return findings.note_unexpected(node, self.what)
        entries = {
            name: read_options(self.catalog, name, child, findings)
            for name, child in node.value.items()
        }
        return {name: options for name, options in entries.items() if options is not UNREAD}

    def schema(self) -> JsonSchema:
        return {**self.table.schema(), "additionalProperties": False}


class AuthField(msgspec.Struct, frozen=True):
    """Who may come in; a way to sign in is a key of the name of its plug-in."""

    what: str = AUTH.what

    @property
    def table(self) -> TableField:
        """All possible keys, including plug-ins' keys."""
        ways = plugged_tables(SIGN_IN)
        described = {key: docstring_summary(one.make) for key, one in ways.items()}
        descriptions = {**AUTH.descriptions, **described}
        return replace(AUTH, keys={**AUTH.keys, **ways}, descriptions=descriptions)

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if not isinstance(node.value, dict):
            return AUTH.read(node, findings)
        ways = SIGN_IN.names()
        entries = {key: one for key, one in node.value.items() if key not in ways}
        settings = replace(AUTH, also=tuple(ways)).read(replace(node, value=entries), findings)
        sign_in = {
            key: options
            for key, child in node.value.items()
            if key in ways
            and (options := read_options(SIGN_IN, key, child, findings)) is not UNREAD
        }
        return settings if settings is UNREAD else replace(settings, sign_in=sign_in)

    def schema(self) -> JsonSchema:
        return self.table.schema()


class BrokerField(msgspec.Struct, frozen=True):
    """The URL of a message broker, which may hold a password and so is never shown."""

    text: TextField

    @property
    def what(self) -> str:
        return self.text.what

    def read(self, node: YamlNode, findings: Findings) -> Any:
        url = self.text.read(node, findings)
        if url is not UNREAD:
            try:
                BROKER_URLS.load(url.partition("://")[0])(url)
            except ConfigError as error:
                return findings.add(node, error.what)
        return url

    def schema(self) -> JsonSchema:
        return self.text.schema()


@lru_cache(maxsize=1)
def file_table() -> TableField:
    """Return all keys at the top of a file, its stages included."""
    settings, pipeline = struct_table(Settings), struct_table(Pipeline)
    additions = plugged_tables(ADDITIONS)
    messages = settings.keys["messages"]
    assert isinstance(messages, TextField)
    keys = {
        **settings.keys,
        **additions,
        "asks": PluggedField(ASK_KINDS),
        "auth": AuthField(),
        "doors": DoorsField(),
        "messages": BrokerField(messages),
        **{key: pipeline.keys[key] for key in OF_PIPELINE},
        **{stage.value: ServicesField(stage) for stage in Stage},
    }
    return replace(
        settings,
        keys=keys,
        make=dict,
        what="a map of settings",
        descriptions={
            **pipeline.descriptions,
            **settings.descriptions,
            **{key: docstring_summary(table.make) for key, table in additions.items()},
        },
        defaults={**pipeline.defaults, **settings.defaults},
    )


def file_schema() -> JsonSchema:
    """Return the JSON Schema (draft 2020-12) of a file, for all installed plug-ins."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An assistant of Prolocutor",
        "$defs": {
            "variable": {"type": "string", "pattern": r"\$\{[A-Za-z_]\w*(:-[^}]*)?\}"},
            **call_schemas(),
        },
        **file_table().schema(),
    }
