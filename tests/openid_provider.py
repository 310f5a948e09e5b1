"""An identity provider on loopback that really signs: OpenID Connect with PKCE, and all its faults.

It signs the one `user` in at once, without asking. What a test sets in `faults` it does wrong.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode

from aiohttp import web
from aiohttp.test_utils import TestServer
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

CLIENT, SECRET = "prolocutor", "s3cret & more: ~"
EC = ECKey.generate_key("P-256", {"kid": "ec", "use": "sig"})


NONE, HS256 = b'{"alg":"none"}', b'{"alg":"HS256"}'


@cache
def rsa(number: int) -> RSAKey:
    """Return a key; it takes long to make one, so not before a test needs it."""
    return RSAKey.generate_key(2048, {"kid": f"rsa-{number}", "use": "sig"})


def part(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


class OpenIdProvider:
    def __init__(self) -> None:
        self.user: dict[str, Any] = {"sub": "u-1", "preferred_username": "Ann", "groups": []}
        self.faults: dict[str, Any] = {}
        self.told: dict[str, Any] = {}  # claims that only the address userinfo has
        self.signing: RSAKey | ECKey = rsa(0)
        self.published: list[RSAKey | ECKey] = [rsa(0)]
        self.asked: list[str] = []
        self.secret: str | None = SECRET
        self.refreshes = True
        self.codes: dict[str, dict[str, str]] = {}
        self.refresh_tokens: dict[str, str] = {}
        self.issuer = ""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/.well-known/openid-configuration", self.document),
            web.get("/authorize", self.authorize),
            web.post("/token", self.token),
            web.get("/keys", self.keys),
            web.get("/userinfo", self.userinfo),
            web.get("/end", self.end),
        ]

    @web.middleware
    async def noted(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(request.path)
        if "away" in self.faults:
            raise web.HTTPServiceUnavailable
        response: web.StreamResponse = await handler(request)
        return response

    async def document(self, _: web.Request) -> web.Response:
        at = self.issuer
        document = {
            "issuer": self.faults.get("document_issuer", at),
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "jwks_uri": f"{at}/keys",
            "userinfo_endpoint": f"{at}/userinfo",
            "end_session_endpoint": f"{at}/end",
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "authorization_response_iss_parameter_supported": True,
        }
        return web.json_response(document)

    async def keys(self, _: web.Request) -> web.Response:
        public = [key.as_dict(private=False) for key in self.published]
        return web.json_response({"keys": [{"kty": "odd"}, *public]})

    async def authorize(self, request: web.Request) -> web.Response:
        query = request.query
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe()
        self.codes[code] = dict(query)
        answer = {"code": code, "state": query["state"], "iss": self.issuer}
        if "denied" in self.faults:
            answer = {**answer, "code": "", "error": "access_denied"}
        answer |= self.faults.get("answer", {})
        raise web.HTTPFound(f"{query['redirect_uri']}?{urlencode(answer)}")

    async def token(self, request: web.Request) -> web.Response:
        form = dict(parse_qsl(await request.text(), keep_blank_values=True))
        if self.secret is None:
            assert form["client_id"] == CLIENT
        else:
            pair = base64.b64decode(request.headers["Authorization"].removeprefix("Basic "))
            name, secret = (unquote_plus(one) for one in pair.decode().split(":"))
            assert name == CLIENT
            assert secret == self.secret
        if form["grant_type"] == "refresh_token":
            subject = self.refresh_tokens.pop(form["refresh_token"], None)  # rotated: counts once
            if subject is None or "revoked" in self.faults:
                return web.json_response({"error": "invalid_grant"}, status=400)
            return web.json_response(self.granted(None))
        asked = self.codes.pop(form["code"], {})
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            challenge != asked.get("code_challenge")
            or form["redirect_uri"] != asked["redirect_uri"]
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response(self.granted(asked["nonce"]))

    def granted(self, nonce: str | None) -> dict[str, Any]:
        access = secrets.token_urlsafe()
        half = hashlib.sha256(access.encode()).digest()[:16]
        at_hash = base64.urlsafe_b64encode(half).rstrip(b"=").decode()
        given = {"access_token": access, "token_type": "Bearer", "expires_in": 300}
        given["id_token"] = self.id_token({"nonce": nonce, "at_hash": at_hash, "sid": "sid-1"})
        if self.refreshes:
            given["refresh_token"] = secrets.token_urlsafe()
            self.refresh_tokens[given["refresh_token"]] = self.user["sub"]
        return given

    def id_token(self, more: dict[str, Any]) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, **self.user}
        claims |= {name: value for name, value in more.items() if value is not None}
        claims |= self.faults.get("claims", {})
        claims = {name: value for name, value in claims.items() if value is not None}
        return self.signed(claims)

    def signed(self, claims: dict[str, Any]) -> str:
        how, kid = self.faults.get("signed"), {"kid": self.signing.kid}
        if how == "none":
            return f"{part(NONE)}.{part(json.dumps(claims).encode())}."
        if how in ("HS256 with the public key", "HS256 with the secret"):
            public = self.published[0].as_pem(private=False)
            secret = SECRET.encode() if how.endswith("secret") else public
            signed = f"{part(HS256)}.{part(json.dumps(claims).encode())}"
            return f"{signed}.{part(hmac.digest(secret, signed.encode(), 'sha256'))}"
        if how == "a key of its own":
            return jwt.encode({"alg": "RS256", "kid": "rsa-0"}, claims, rsa(1))
        if how == "its key in the header":
            public = rsa(1).as_dict(private=False)
            return jwt.encode({"alg": "RS256", "jwk": public}, claims, rsa(1))
        algorithm = "ES256" if isinstance(self.signing, ECKey) else "RS256"
        return jwt.encode({"alg": algorithm, **kid}, claims, self.signing)

    async def end(self, _: web.Request) -> web.Response:
        return web.Response(text="You are signed out.")

    async def userinfo(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"].startswith("Bearer ")
        return web.json_response({"sub": self.user["sub"], **self.told})


@asynccontextmanager
async def openid_provider() -> AsyncIterator[OpenIdProvider]:
    """Run a provider on loopback."""
    provider = OpenIdProvider()
    app = web.Application(middlewares=[provider.noted])
    app.add_routes(provider.routes())
    async with TestServer(app) as server:
        provider.issuer = str(server.make_url("")).rstrip("/")
        yield provider
