"""TenantDispatcher: one server of several tenants, each behind its hosts and its path.

A tenant is addressed by the name of a host (`NAME.localhost`, or one of `hosts`), or below
`/t/NAME/`. Behind it is a listener of its own: nothing here looks into its requests, and what is
not addressed to a tenant is answered by the server itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import quote, urlsplit

from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import Stopping
from prolocutor.web.asgi import App, Receive, Scope, Send
from prolocutor.web.error_table import ErrorResponse, error_response
from prolocutor.web.lifespan import follow_lifespan
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import refuse_socket, send_response
from prolocutor.web.served_tenant import ServedTenant

PREFIX: Final = "/t/"
FIRST_STARTS: Final = 60.0
"""Seconds for the first starts of all tenants, before requests are taken without the slow ones."""

_LIVE: Final = "/health/live"


class TenantDispatcher:
    """An ASGI app that hands each request to the tenant that it is addressed to.

    `server` answers what is addressed to none. A tenant that is not served answers 503.
    """

    def __init__(
        self, tenants: Sequence[ServedTenant], server: App, limits: ListenerLimits
    ) -> None:
        self.limits = limits
        self.stopping = False
        self.tenants = tenants
        self._tenants = {one.name: one for one in tenants}
        self._hosts = {host: one for one in tenants for host in one.hosts}
        self._server = server
        self._addresses: Collection[str] = ("127.0.0.1",)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, serve a WebSocket, or follow the server's lifespan."""
        if scope["type"] == "lifespan":
            await follow_lifespan(self, receive, send)
            return
        host = _host_of(scope)
        tenant = self._hosts.get(host)
        if tenant is None:
            tenant, scope = self._below_prefix(scope)
        if tenant is None:
            await self._server(scope, receive, send)
        elif (where := _page_elsewhere(tenant, host, scope)) is not None:
            await send_response(send, HttpResponse(status=307, headers={"Location": where}))
        elif tenant.app is None:
            await _unavailable(scope, receive, send, stopping=self.stopping)
        else:
            await tenant.serve(scope, receive, send)

    def check_may_listen(self, addresses: Collection[str]) -> None:
        """Note the addresses; each tenant checks by itself whether anyone could come in."""
        self._addresses = addresses

    async def open(self) -> None:
        """Start all tenants at once, and wait until each has started or failed to."""
        for each in self._tenants.values():
            each.start(self._addresses)
        tried = [asyncio.create_task(each.tried.wait()) for each in self._tenants.values()]
        _, slow = await asyncio.wait(tried, timeout=FIRST_STARTS)
        for one in slow:
            one.cancel()

    async def drain(self) -> None:
        """Take no new requests, and wait until all that were taken are answered."""
        self.stopping = True
        await asyncio.gather(*(each.drain() for each in self._tenants.values()))

    async def close(self) -> None:
        """End all tenants."""
        self.stopping = True
        await asyncio.gather(*(each.aclose() for each in self._tenants.values()))

    def _below_prefix(self, scope: Scope) -> tuple[ServedTenant | None, Scope]:
        """Return the tenant of a path `/t/NAME/...` and the scope as the tenant sees it."""
        path = scope["path"]
        if not path.startswith(PREFIX):
            return None, scope
        name, slash, rest = path.removeprefix(PREFIX).partition("/")
        tenant = self._tenants.get(name)
        if tenant is None:
            return None, scope
        root = f"{scope.get('root_path', '')}{PREFIX}{name}"
        inner = f"{slash}{rest}" or "/"
        raw = quote(inner, safe="/:@!$&'()*+,;=-._~").encode()
        return tenant, {**scope, "path": inner, "raw_path": raw, "root_path": root}


def _host_of(scope: Scope) -> str:
    """Return the name of the host that a request is for, in lower case and without its port."""
    for name, value in scope["headers"]:
        if name == b"host":
            try:
                return (urlsplit(f"//{value.decode('latin-1')}").hostname or "").rstrip(".")
            except ValueError:
                return ""
    return ""


def _page_elsewhere(tenant: ServedTenant, host: str, scope: Scope) -> str | None:
    """Return the address at the tenant's host of a page that a browser opens below its path.

    Pages need an origin of their own: what a browser keeps for one tenant it would show to the
    page of another. None for other requests, and where the tenant has no host that can be used.
    """
    if not scope.get("root_path") or scope["type"] != "http" or scope["method"] != "GET":
        return None
    headers = dict(scope["headers"])
    if not headers.get(b"accept", b"").startswith(b"text/html"):
        return None
    is_local = host in ("localhost", "127.0.0.1", "::1")
    own = f"{tenant.name}.localhost"
    place = own if is_local else next((one for one in tenant.hosts if one != own), None)
    if place is None:
        return None
    _, colon, port = headers.get(b"host", b"").decode("latin-1").rpartition(":")
    query = scope["query_string"].decode("latin-1")
    where = quote(scope["path"], safe="/")
    return f"//{place}{colon + port if port.isdigit() else ''}{where}{'?' + query if query else ''}"


async def _unavailable(scope: Scope, receive: Receive, send: Send, *, stopping: bool) -> None:
    """Answer for a tenant that is not served; why, its operator reads in the log."""
    if scope["path"] == _LIVE:
        await send_response(send, HttpResponse(b'{"status":"live"}'))
        return
    refused = ErrorResponse(
        503, "the assistant cannot be reached now", "not_ready", headers={"Retry-After": "5"}
    )
    if stopping:
        refused = error_response(Stopping("the assistant is shutting down"))
    if scope["type"] == "http":
        await send_response(send, refused.response())
        return
    await receive()
    await refuse_socket(scope, send, refused)
