"""The fork server: a process that has imported everything and forks a fresh server for each life.

A server forked here is `prolocutor serve` with the same words as typed by a person; only the time
in which Python imports it is saved. Read from standard input, one word a line: `live` forks
a server, `kill` and `stop` send it SIGKILL and SIGTERM, and then `ended STATUS` is printed (as
`subprocess` counts: minus the signal); `pause` and `go-on` send SIGSTOP and SIGCONT. Beside that
the servers print to the same standard output. `SOAK_CONTROLS` names faults to put in before.

    python bench/soaking/fork_server.py serve FILE --port 4242 --store URL
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import traceback
from typing import NoReturn

import uvicorn.lifespan.off  # noqa: F401 - what uvicorn loads by name
import uvloop  # noqa: F401

import prolocutor.cli.serve
import prolocutor.cli.serve_program
import prolocutor.connectors.python
import prolocutor.doors.http.api
import prolocutor.stores.sqlite.sqlite_store  # noqa: F401
from prolocutor.cli.main import run

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGTERM}
PAUSES = {"pause": signal.SIGSTOP, "go-on": signal.SIGCONT}
SHARED = (
    "prolocutor.plugins.almond.door.door",
    "prolocutor.plugins.almond.programs.executor",
    "prolocutor.config.building",
    "prolocutor.plugins.postgresql.postgresql_store",
    "uvicorn.protocols.http.httptools_impl",
)
"""What a replica imports beside that, when it needs it."""
PATIENCE = 30
"""Seconds that a server may take to end; then it is killed."""


def main(arguments: list[str]) -> None:
    if controls := os.environ.get("SOAK_CONTROLS"):
        importlib.import_module("bench.soaking.controls").sabotage(controls.split(","))
    for name in SHARED if "SOAK_STORE" in os.environ else ():
        importlib.import_module(name)
    gc.freeze()
    child = 0
    for line in sys.stdin:
        word = line.strip()
        if word == "live":
            child = os.fork() or live(arguments)
        elif child and word in PAUSES:
            os.kill(child, PAUSES[word])
        elif child:
            os.kill(child, SIGNALS[word])
            print(f"ended {ended(child)}", flush=True)
            child = 0
    if child:
        os.kill(child, signal.SIGKILL)


def ended(child: int) -> int:
    """Wait for the end of a server and give its status."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(PATIENCE)
    status = os.waitpid(child, 0)[1]
    signal.alarm(0)
    return os.waitstatus_to_exitcode(status)


def live(arguments: list[str]) -> NoReturn:
    """Be a server until the end."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    status = 1
    try:
        status = run(arguments)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
