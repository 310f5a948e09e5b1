"""`prolocutor serve`: its options and their meaning; the server is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click
import msgspec

from prolocutor.cli.lazy_group import import_object
from prolocutor.cli.options import CODE_OPTION, STORE_OPTION


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The given options of `prolocutor serve`; None for missing options."""

    file: Path | None = None
    host: str | None = None
    port: int | None = None
    metrics_host: str | None = None
    metrics_port: int | None = None
    store: str | None = None
    hosts: str | None = None
    deadline: float | None = None
    max_text: int | None = None
    code: Path | None = None
    without_keys: bool = False
    once: bool = False
    log: Literal["plain", "json"] | None = None


@click.command(short_help="Open an assistant's doors to the network.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--host", metavar="HOST", help="Where to listen.  [default: the file's, 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="The port; 0 takes a free one.  [default: the file's, else 4242]",
)
@click.option(
    "--metrics-host",
    metavar="HOST",
    help="Where --metrics-port listens.  [default: the file's, 127.0.0.1]",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65_535),
    help="Serve /metrics and /health there too, without a key.  [default: the file's, else none]",
)
@STORE_OPTION
@click.option(
    "--hosts",
    metavar="HOST|MAP.json",
    help="Call all HTTP services at this host, or at the URLs of a map from host:port.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds after which a reply is out.  [default: the file's]",
)
@click.option(
    "--max-text",
    metavar="CHARACTERS",
    type=click.IntRange(min=1),
    help="The longest text that is taken.  [default: the file's, else 100,000]",
)
@CODE_OPTION
@click.option(
    "--without-keys",
    is_flag=True,
    help="Let everybody in who reaches the address, as any user and as an operator.",
)
@click.option("--once", is_flag=True, help="End after the first turn (for tests).")
@click.option(
    "--log",
    type=click.Choice(["plain", "json"]),
    help="Log every turn to stderr, as text or JSON lines.  [default: only what goes wrong]",
)
def serve(
    file: Path | None,
    host: str | None,
    port: int | None,
    metrics_host: str | None,
    metrics_port: int | None,
    store: str | None,
    hosts: str | None,
    deadline: float | None,
    max_text: int | None,
    code: Path | None,
    without_keys: bool,
    once: bool,
    log: Literal["plain", "json"] | None,
) -> None:
    """Serve an assistant: the demo, or the one that FILE describes.

    FILE may be DeepPavlov Agent's own pipeline_conf.json, which is run as it stands.

    It starts the processes that the file names, opens the doors, prints the URL and three things
    to try, and serves until Ctrl-C or SIGTERM. Then no new turns are taken, running ones end, and
    the processes are stopped. `POST /` answers as DeepPavlov Agent does; /openapi.json describes
    all addresses, /metrics, /health/live and /health/ready are for monitoring.

    Clients on this machine need no key, unless the file lets others in. For any other address set
    auth.keys or auth.tokens in the file, or let everybody in by --without-keys. Meanwhile `ask`,
    `chat` and `dialogs` work as usual: they come in by a door.

    \b
    Examples:
      prolocutor serve
      prolocutor serve my-assistant/assistant.yaml --port 8080
      prolocutor serve --store memory:
      prolocutor serve pipeline_conf.json --hosts 127.0.0.1
    """
    options = ServeOptions(
        file=file,
        host=host,
        port=port,
        metrics_host=metrics_host,
        metrics_port=metrics_port,
        store=store,
        hosts=hosts,
        deadline=deadline,
        max_text=max_text,
        code=code,
        without_keys=without_keys,
        once=once,
        log=log,
    )
    import_object("prolocutor.cli.serve_program:serve_file")(options)
