"""How long a fuzzer runs: a few rounds in the suite, or for as long as it is asked.

PROLOCUTOR_FUZZ_SECONDS=3600   each test goes on for an hour (`make fuzz`)
PROLOCUTOR_FUZZ_SEED=17        and begins with this seed
"""

import os
import random
import time
from collections.abc import Iterator

SECONDS = float(os.environ.get("PROLOCUTOR_FUZZ_SECONDS", "0"))
FIRST = int(os.environ.get("PROLOCUTOR_FUZZ_SEED", "0"))


def rounds(usual: int) -> Iterator[random.Random]:
    """Give a source of chance for each round; the same ones in each run of the suite."""
    until = time.monotonic() + SECONDS
    seed = FIRST
    while time.monotonic() < until if SECONDS else seed < FIRST + usual:
        chance = random.Random(seed)
        chance.seed_of_round = seed  # type: ignore[attr-defined]
        yield chance
        seed += 1


def patience() -> float:
    """Seconds after which a fuzzer hangs."""
    return SECONDS + 300
