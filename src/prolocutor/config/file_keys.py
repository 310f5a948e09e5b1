"""The keys at the top of an assistant's file."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.wiring import BROKER_URLS
from prolocutor.config.fields import Findings, JsonSchema, TableField, TextField
from prolocutor.config.plugged_fields import AuthField, DoorsField, PluggedField
from prolocutor.config.service_entries import ServicesField, call_schemas
from prolocutor.config.settings import Settings
from prolocutor.config.struct_fields import table_of
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, Stage

OF_PIPELINE: Final = ("commit", "user_snapshot", "own_words")
"""The settings of a pipeline that stand at the top of a file."""


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
    settings, pipeline = table_of(Settings), table_of(Pipeline)
    messages = settings.keys["messages"]
    assert isinstance(messages, TextField)
    keys = {
        **settings.keys,
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
        descriptions={**pipeline.descriptions, **settings.descriptions},
        defaults={**pipeline.defaults, **settings.defaults},
    )


def file_schema() -> JsonSchema:
    """Return what a file may say as JSON Schema (draft 2020-12), for all that is installed."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An assistant of Prolocutor",
        "$defs": {
            "variable": {"type": "string", "pattern": r"\$\{[A-Za-z_]\w*(:-[^}]*)?\}"},
            **call_schemas(),
        },
        **file_table().schema(),
    }
