"""A service that ignores being asked to end, and so does its child: `stubborn.py PORT FILE`.

It writes both process ids to FILE, then listens.
"""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(
    [sys.executable, "-c", "import signal; signal.pause()"], stdin=subprocess.DEVNULL
)
Path(sys.argv[2]).write_text(f"{os.getpid()} {child.pid}")
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    listener.accept()[0].close()
