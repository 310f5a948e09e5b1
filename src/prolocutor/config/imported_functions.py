"""The functions named by a file, imported from its folder, or the reasons why they cannot be."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from prolocutor.config.fields import Findings
from prolocutor.config.service_entries import ServiceEntry, function_name
from prolocutor.config.yaml_file import YamlNode
from prolocutor.connectors.connector_catalog import call_hint
from prolocutor.errors import ConfigError
from prolocutor.functions import is_async, resolve
from prolocutor.names import closest
from prolocutor.plan.formatters import resolve_formatter
from prolocutor.plan.pipeline import StageService

Function = Callable[..., Any]

BY_NAME: Final = (None, "python", "process")
"""The connectors with the name of a function as `call`."""


def add_search_folder(folder: Path) -> None:
    """Let modules be found in a folder, before all others, from now on."""
    place = str(folder)
    if place not in sys.path:
        sys.path.insert(0, place)
        importlib.invalidate_caches()


@contextmanager
def search_folder(folder: Path) -> Iterator[None]:
    """Let modules be found in a folder for as long as the block runs."""
    before = list(sys.path)
    add_search_folder(folder)
    try:
        yield
    finally:
        sys.path[:] = before


def import_all(services: list[ServiceEntry], findings: Findings) -> dict[str, Function]:
    """Import every function named by services; return the called functions by `stage.service`.
    Failed imports are recorded at their keys. Modules run their own code when imported.
    """
    functions: dict[str, Function] = {}
    for written in services:
        service = written.service
        call = service.call
        if (name := function_name(call.target)) and call.connector in BY_NAME:
            try:
                functions[written.path] = resolve(name)
            except ConfigError as error:
                hint = call_hint(name) or _module_beside(name, findings)
                findings.add(written.call, error.what, hint)
            else:
                _check_arguments(functions[written.path], written, findings)
        for key, value in call.options.items():
            if (
                isinstance(value, str)
                and (name := function_name(value))
                and _is_beside(key, written)
            ):
                try:
                    _check_arguments(resolve(name), written, findings, key)
                except ConfigError as error:
                    findings.add(_child(written.node, key), error.what)
        for key in ("formatter", "response_formatter"):
            try:
                resolve_formatter(getattr(service, key), "in", resolve)
            except ConfigError as error:
                findings.add(_child(written.node, key), error.what)
    return functions


def _is_beside(key: str, written: ServiceEntry) -> bool:
    return isinstance(written.node.value, dict) and key in written.node.value


def _module_beside(dotted: str, findings: Findings) -> str | None:
    """Return the name with the probable module beside the file."""
    module, _, function = dotted.partition(":")
    files = findings.folder.glob("*.py")
    near = closest(module, [file.stem for file in files if file.stem != module])
    return None if near is None else f"did you mean '{near}:{function}'?"


def _check_arguments(
    function: Function, written: ServiceEntry, findings: Findings, key: str | None = None
) -> None:
    """Record a function that cannot be called with a single argument, the request."""
    if written.service.call.connector not in BY_NAME:
        return
    try:
        inspect.signature(function).bind(object())
    except TypeError as error:
        node = written.call if key is None else _child(written.node, key)
        findings.add(node, f"cannot be called with a request alone: {error}")
    except ValueError:  # a builtin without a known signature
        return


def is_plain(function: Function) -> bool:
    """Return whether a function is not async, so that it needs a thread or runs inline."""
    return not (is_async(function) or inspect.isasyncgenfunction(function))


def runs_in_threads(service: StageService) -> bool:
    """Return whether a plain function of this service would run in threads."""
    return service.call.connector != "process" and not service.call.options.get("inline")


def _child(node: YamlNode, key: str) -> YamlNode:
    return node.value.get(key, node) if isinstance(node.value, dict) else node
