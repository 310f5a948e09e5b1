"""What was read of an assistant's file, whichever form it has."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from prolocutor.config.faults import Fault
from prolocutor.config.fields import Findings
from prolocutor.config.service_entries import ServiceEntry
from prolocutor.config.settings import Settings
from prolocutor.config.yaml_file import YamlDocument, YamlNode
from prolocutor.plan.graph import Graph


class Survey(msgspec.Struct, frozen=True):
    """What was read of a file: settings, where they are written, and faults.

    Settings that could not be read have their defaults. `graph` is None if the pipeline is faulty.
    `warnings` and `notes` are what the reader of the file itself has to say.
    """

    settings: Settings
    services: list[ServiceEntry]
    document: YamlDocument
    findings: Findings
    graph: Graph | None
    warnings: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()

    def find(self, key: str) -> YamlNode:
        """Return the place of a key, `stage.service` included, or the nearest that is written."""
        keys = {each.path: each.node.key for each in reversed(self.services)}
        return self.document.find(key_in_file(key, keys))


def key_in_file(key: str, keys: Mapping[str, str]) -> str:
    """Return the key in the file of what the graph calls `stage.name`, or of a setting below it."""
    path = key
    while path not in keys:
        path, dot, _ = path.rpartition(".")
        if not dot:
            return key
    return keys[path] + key[len(path) :]
