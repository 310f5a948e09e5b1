"""MonitoringApp: figures and health at an address of their own, for which nobody needs a key."""

from __future__ import annotations

from collections.abc import Sequence

from prolocutor.contracts.channel import Route
from prolocutor.errors import NotFound
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.error_table import error_response
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import AsgiRequest, refuse_socket, send_response
from prolocutor.web.routing import RouteTable


class MonitoringApp:
    """An ASGI app that answers these routes to whoever reaches its address, and nothing else."""

    def __init__(self, routes: Sequence[Route], limits: ListenerLimits) -> None:
        self._routes = RouteTable(routes)
        self.limits = limits

    def is_shared(self, address: str) -> bool:
        """Return that no address is a proxy's: monitoring has few connections."""
        return False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and refuse every WebSocket."""
        if scope["type"] == "websocket":
            refused = error_response(NotFound("there are no WebSockets here"))
            await refuse_socket(scope, send, refused)
            return
        try:
            route, params = self._routes.find(scope["method"], scope["path"])
            response = await route.answer(AsgiRequest(scope, receive, params, self.limits))
        except Exception as error:
            response = error_response(error).response()
        await send_response(send, response)
