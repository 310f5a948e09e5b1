"""`prolocutor worker`: runs services for all replicas, which call them over NATS."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import click

from prolocutor.assistant.runner import run
from prolocutor.catalog import Catalog
from prolocutor.errors import ConfigError
from prolocutor.plugins.nats.worker_services import (
    names_a_function,
    service_of_function,
    services_of_file,
)

PROGRAMS: Final = Catalog[Callable[..., Coroutine[Any, Any, None]]]("worker", "prolocutor.workers")


@click.command(short_help="Run services as workers behind NATS.")
@click.argument("target", metavar="FILE|MODULE:FUNCTION")
@click.argument("services", nargs=-1, metavar="[SERVICE]...")
@click.option("--name", metavar="SERVICE", help="The service that MODULE:FUNCTION is.")
@click.option(
    "--batch-size",
    type=click.IntRange(1, 10_000),
    help="The most requests in one call of MODULE:FUNCTION, which takes a list then.  [default: 1]",
)
@click.option(
    "--messages",
    metavar="URL",
    envvar="PROLOCUTOR_MESSAGES",
    help="The NATS servers: nats://HOST[:PORT][,HOST...].  [default: the file's, this machine]",
)
@click.option(
    "--assistant",
    metavar="NAME",
    help="Take the calls of this assistant only.  [default: the file's name, else all]",
)
@click.option(
    "--hold",
    type=click.IntRange(1, 100_000),
    help="The most calls that wait or run; more are told that it is busy."
    "  [default: four batches; 64 without batches]",
)
@click.option("--host", default="127.0.0.1", help="Where --port listens.  [default: 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Serve /metrics and /health/ready there; 0 takes a free one.  [default: none]",
)
def worker(
    target: str,
    services: tuple[str, ...],
    name: str | None,
    batch_size: int | None,
    messages: str | None,
    assistant: str | None,
    hold: int | None,
    host: str,
    port: int | None,
) -> None:
    """Run services as workers: of an assistant's FILE by their names, or one function.

    Replicas call them by `call: nats://SERVICE`. Start as many workers as you like, on any machine;
    NATS gives each call to one of them, and workers with a batch size gather what waits. SIGTERM or
    Ctrl-C: a worker takes no more calls, answers those that it has, and ends; a second one ends it
    at once.

    In FILE a service that is called by nats:// says with `worker: module:function` what its workers
    run; of any other service it is the `call` itself.

    \b
    Examples:
      prolocutor worker assistant.yaml weather
      prolocutor worker assistant.yaml weather chat --messages nats://n1,n2,n3
      prolocutor worker weather:answer --name weather --batch-size 32
    """
    logging.basicConfig(
        level=logging.WARNING,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if names_a_function(target):
        if name is None or services:
            raise click.UsageError(f"say which service {target} is: --name SERVICE")
        served = [service_of_function(target, name, batch_size or 1, messages, assistant)]
    else:
        if name is not None or batch_size is not None:
            raise click.UsageError("--name and --batch-size are for MODULE:FUNCTION")
        if not services:
            raise click.UsageError(f"name the services of {target} to run")
        path = Path(target)
        if not path.exists():
            raise ConfigError(f"{target}: there is no such file, and it is not a module:function")
        served = services_of_file(path, services, messages, assistant)
    run(PROGRAMS.make("nats", served, hold=hold, host=host, port=port))
