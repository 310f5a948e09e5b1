"""The services of the standard pipeline as one HTTP server on loopback; each call sleeps first.

Prints {"url": ...} when it listens and ends when its standard input does. POST <url>/<service>
takes the request of `services.py` and answers a list of one, which is dp-agent's wire form.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from aiohttp import web
from services import SERVICES


async def serve(port: int, sleep: float) -> None:
    async def handle(request: web.Request) -> web.Response:
        service = SERVICES.get(request.match_info["service"])
        if service is None:
            raise web.HTTPNotFound
        asked = await request.json()
        await asyncio.sleep(sleep)
        return web.json_response([service(asked)])

    app = web.Application()
    app.router.add_post("/{service}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    _, bound = runner.addresses[0][:2]
    print(json.dumps({"url": f"http://127.0.0.1:{bound}"}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the standard pipeline's services.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--sleep-ms", type=float, default=20.0)
    options = parser.parse_args()
    asyncio.run(serve(options.port, options.sleep_ms / 1000))
