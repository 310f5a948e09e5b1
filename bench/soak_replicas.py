"""Lets replicas, their lines and their database fail under load, and finds out what went wrong.

    python bench/soak_replicas.py [--seconds S] [--replicas N] [--people N] [--faults kill,...]
                                  [--net] [--control fence,ttl,hints,stale] [--seed N] [--keep DIR]

PostgreSQL is started by the soak itself (Debian's package). Two to four `prolocutor serve` share
it, each over a TCP proxy. People talk to any of them over real sockets, with an `Idempotency-Key`
each, and read their feeds over WebSockets, from replica to replica. Faults: `kill` (SIGKILL),
`pause` (SIGSTOP for longer than the lease), `cut` (the lines to the database, reset or held),
`restart` (the database, `immediate`), `failover` (the standby is promoted), `disk` (full; root),
`nats` (hints go through a nats-server, which is killed and started again). With `--net` (as root)
each replica has a network namespace and a wall clock of its own in place of the proxies: `cut`
drops all packets between it and the database, `oneway` those of one direction, `island` all that
it sends or is sent; `clock` sets its wall clock, up to 400 days off. At the end all that
people said, heard and read is compared with the database. A control puts a fault into the program
that the soak has to find. Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.soaking.controls import CONTROLS
from bench.soaking.database import SoakDatabase
from bench.soaking.replica_run import NETWORKS, ReplicaRun, ReplicaSoak

FAULTS: dict[bool, str] = {
    False: "kill,pause,cut,restart,failover",
    True: "kill,pause,cut,oneway,island,clock,restart,failover",
}
DISK: int = 220_000_000
"""Bytes of the disk that is filled."""


def main() -> None:
    options = _options()
    chosen = FAULTS[options.net] if options.faults is None else options.faults
    faults = tuple(name for name in chosen.split(",") if name)
    soak = ReplicaSoak(
        seconds=options.seconds,
        replicas=options.replicas,
        people=options.people,
        lease=options.lease,
        seed=options.seed,
        faults=faults,
        controls=tuple(name for name in options.control.split(",") if name),
        every=options.every,
        net=options.net,
    )
    folder = Path(tempfile.mkdtemp(prefix="soak-replicas-", dir=options.keep))
    memory = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    place = Path(tempfile.mkdtemp(prefix="soak-postgresql-", dir=memory))
    place.chmod(0o755)
    database = SoakDatabase(
        place,
        standby="failover" in faults,
        bytes=DISK if "disk" in faults else None,
        open_to=NETWORKS if options.net else None,
    )
    run = ReplicaRun(folder, soak, database)
    found = asyncio.run(run.run())
    print(run.summary(found))
    if not found.complaints:
        shutil.rmtree(folder)
        return
    print(f"\n{len(found.complaints)} things are wrong:", file=sys.stderr)
    for complaint in found.complaints[:50]:
        print(f"  {complaint}", file=sys.stderr)
    print(f"The diary and the replicas' log are in {folder}", file=sys.stderr)
    sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long (60)")
    parser.add_argument("--replicas", type=int, default=3, help="how many (3)")
    parser.add_argument("--people", type=int, default=40, help="how many talk at once (40)")
    parser.add_argument("--lease", type=float, default=1.0, help="seconds (1)")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between faults (0.5)")
    parser.add_argument("--seed", type=int, default=1, help="chooses faults, words, instants (1)")
    parser.add_argument("--faults", help=f"which ({FAULTS[False]}; with --net {FAULTS[True]})")
    parser.add_argument("--net", action="store_true", help="a network and a clock for each replica")
    parser.add_argument("--control", default="", help=f"some of {', '.join(CONTROLS)}")
    parser.add_argument("--keep", type=Path, help="the folder for logs of a soak that failed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
