"""An assistant served in a thread while its pictures are taken, and what makes a picture small."""

import asyncio
import io
import queue
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page

from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve

FOLDER: Final = Path(__file__).parents[1] / "docs" / "howto"
PHONE: Final = {"width": 390, "height": 760}
COLOURS: Final = 96

Serve = Callable[[Listener], Awaitable[None]]


class Served:
    """Runs `live` in a thread with a loop of its own; what it hands over is served meanwhile.

    As a context it gives the address at which that answers.
    """

    def __init__(self, live: Callable[[Serve], Awaitable[None]]) -> None:
        self._live = live
        self._ready: queue.Queue[str] = queue.Queue()
        self._thread = threading.Thread(target=asyncio.run, args=(self._run(),))

    def __enter__(self) -> str:
        self._thread.start()
        return self._ready.get(timeout=60)

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        await self._live(self._serve)

    async def _serve(self, app: Listener) -> None:
        await serve(app, port=0, on_ready=self._ready.put, stop=self._stop)


def keep(page: Page, name: str, most_bytes: int) -> None:
    """Write what a page shows, in few colours; end if the file is larger than that."""
    shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    file = FOLDER / f"{name}.png"
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    size = file.stat().st_size
    sys.stdout.write(f"{file.name}: {size:,} bytes\n")
    if size > most_bytes:
        raise SystemExit(f"{file} is larger than {most_bytes:,} bytes")
