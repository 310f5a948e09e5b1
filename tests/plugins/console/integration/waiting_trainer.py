"""A training that never ends by itself: it tells its process id by a pipe."""

import os
import signal
import sys
from pathlib import Path

import msgspec

from prolocutor.contracts.model_use import TrainingOrder, TrainingStep

if __name__ == "__main__":
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=TrainingOrder)
    sys.stdout.buffer.write(msgspec.json.encode(TrainingStep(0.5, "wait")) + b"\n")
    sys.stdout.buffer.flush()
    assert order.live is not None
    Path(order.live).with_name("pid").write_text(str(os.getpid()))  # a pipe
    signal.pause()
