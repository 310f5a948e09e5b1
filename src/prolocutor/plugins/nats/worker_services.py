"""The services of a worker: services of a file, or a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.config.imported_functions import add_search_folder
from prolocutor.config.loading import load
from prolocutor.config.service_entries import function_name
from prolocutor.config.settings import ProcessTarget, Settings
from prolocutor.errors import ConfigError
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Service, Stage, StageService
from prolocutor.plugins.nats.nats_address import (
    DEFAULT_SERVERS,
    NatsServers,
    is_nats,
    read_call,
    read_servers,
)
from prolocutor.plugins.nats.wire import ANY_ASSISTANT


class ServedService(msgspec.Struct, frozen=True):
    """A service that a worker runs, the name by which it is called, and its callers' assistant."""

    name: str
    service: StageService
    assistant: str
    servers: NatsServers


def services_of_file(
    path: Path, names: Sequence[str], messages: str | None, assistant: str | None
) -> list[ServedService]:
    """Return services of a file by name; raise `ConfigError` for a service no worker can run.

    A worker runs the `worker` of a service whose `call` is `nats://...`, else its `call`. A file
    without a `name` serves all assistants.
    """
    settings = load(path.absolute())
    add_search_folder(settings.folder)
    found = []
    for name in names:
        service = _service(settings, name)
        called, servers = service.name, None
        target = service.call.target
        if isinstance(target, str) and is_nats(target):
            call = read_call(target)
            called, servers = call.service, call.servers
            worker = service.call.options.get("worker")
            if worker is None:
                raise ConfigError(
                    f"the file does not say what a worker of '{name}' runs: add"
                    " worker: module:function",
                    file=settings.file,
                    key=f"skills.{name}" if _is_skill(settings, service) else name,
                )
            service = msgspec.structs.replace(service, target=worker)
        elif isinstance(target, ProcessTarget):
            what = f"'{name}' is a path of the process {target.process}, which is called by HTTP"
            raise ConfigError(what, file=settings.file)
        if messages is not None or servers is None:
            servers = read_servers(messages or settings.messages or DEFAULT_SERVERS)
        found.append(ServedService(called, service, assistant or _assistant(settings), servers))
    return found


def service_of_function(
    dotted: str, name: str, batch_size: int, messages: str | None, assistant: str | None
) -> ServedService:
    """Return a service that calls a function; modules of the present folder are found too."""
    add_search_folder(Path.cwd())
    service = Service(name, dotted, batch_size=batch_size)
    servers = read_servers(messages or DEFAULT_SERVERS)
    return ServedService(name, service, assistant or ANY_ASSISTANT, servers)


def names_a_function(target: str) -> bool:
    """Return whether a text has the form `module:function` and names no file."""
    return function_name(target) is not None and not Path(target).exists()


def _service(settings: Settings, name: str) -> StageService:
    services = [service for _, service in settings.pipeline.services()]
    services += settings.pipeline.services_at(Stage.LAST_CHANCE)
    for service in services:
        if service.name == name:
            return service
    names = [service.name for service in services]
    hint = suggest(name, names, "services are")
    raise ConfigError(f"no service is called '{name}'; {hint}", file=settings.file)


def _assistant(settings: Settings) -> str:
    """Return the assistant's name in the file; a file without a name serves all assistants."""
    return ANY_ASSISTANT if settings.name == DEFAULTS.name else settings.name


def _is_skill(settings: Settings, service: StageService) -> bool:
    return service in settings.pipeline.services_at(Stage.SKILL)
