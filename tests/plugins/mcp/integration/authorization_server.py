"""An MCP server that wants tokens, and the authorization server that gives them, on loopback.

The server's one tool says whose token came. What a test sets in `faults` is done wrong.
"""

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.test_utils import TestServer

TOOL = {"name": "ask", "inputSchema": {"properties": {"text": {}}}}


class ProtectedServer:
    """Both servers in one; `asked` are the forms that came to the address for tokens."""

    def __init__(self) -> None:
        self.url = ""
        self.faults: dict[str, Any] = {}
        self.asked: list[dict[str, str]] = []
        self.sought: list[dict[str, str]] = []
        self.registered: list[dict[str, Any]] = []
        self.valid: dict[str, str] = {}  # tokens and their scopes
        self.scope = "read"
        self._challenges: dict[str, str] = {}
        self._made = 0

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/.well-known/oauth-protected-resource/mcp", self.resource),
            web.get("/.well-known/oauth-authorization-server", self.document),
            web.post("/register", self.register),
            web.get("/authorize", self.authorize),
            web.post("/token", self.token),
            web.post("/mcp", self.call),
            web.delete("/mcp", self.leave),
        ]

    async def resource(self, request: web.Request) -> web.Response:
        found = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]}
        return web.json_response(found | self.faults.get("resource", {}))

    async def document(self, request: web.Request) -> web.Response:
        found = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return web.json_response(found | self.faults.get("document", {}))

    async def register(self, request: web.Request) -> web.Response:
        self.registered.append(await request.json())
        return web.json_response({"client_id": "c-1", "client_secret": "s & 1"}, status=201)

    async def authorize(self, request: web.Request) -> web.Response:
        query = dict(request.query)
        self.sought.append(query)
        self._challenges["code-1"] = query["code_challenge"]
        answer = {"code": "code-1", "state": query["state"], "iss": self.url}
        answer |= self.faults.get("answer", {})
        raise web.HTTPFound(f"{query['redirect_uri']}?{urlencode(answer)}")

    async def token(self, request: web.Request) -> web.Response:
        form = {**dict(await request.post()), "by": request.headers.get("Authorization", "")}
        self.asked.append({name: str(value) for name, value in form.items()})
        if form["grant_type"] in self.faults.get("refuses", ()):
            return web.json_response({"error": "invalid_grant"}, status=400)
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
            made = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if made != self._challenges.pop(str(form["code"]), None):
                return web.json_response({"error": "invalid_grant"}, status=400)
        self._made += 1
        scope = self.sought[-1].get("scope", "") if self.sought else self.scope
        self.valid = {f"token-{self._made}": scope}
        answer = {"access_token": f"token-{self._made}", "token_type": "Bearer"}
        answer["refresh_token"] = f"refresh-{self._made}"
        return web.json_response(answer | self.faults.get("token", {}))

    async def call(self, request: web.Request) -> web.Response:
        message = await request.json()
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        meta = f'Bearer resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'
        if token not in self.valid:
            said = f'{meta}, scope="read"'
            return web.Response(status=401, headers={"WWW-Authenticate": said})
        if message["method"] == "tools/call" and self.scope not in self.valid[token].split():
            said = f'{meta}, error="insufficient_scope", scope="{self.scope}"'
            return web.Response(status=403, headers={"WWW-Authenticate": said})
        match message["method"]:
            case "initialize":
                result: Any = {"protocolVersion": "2025-06-18", "capabilities": {}}
            case "tools/list":
                result = {"tools": [TOOL]}
            case "tools/call":
                text = f"{token} {message['params']['arguments']['text']}"
                result = {"content": [{"type": "text", "text": text}]}
            case "server/discover":
                return web.Response(status=400)
            case _:
                return web.Response(status=202)
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def leave(self, request: web.Request) -> web.Response:
        return web.Response(status=204)


@asynccontextmanager
async def protected_server() -> AsyncIterator[ProtectedServer]:
    server = ProtectedServer()
    app = web.Application()
    app.add_routes(server.routes())
    async with TestServer(app) as running:
        server.url = str(running.make_url("")).rstrip("/")
        yield server
