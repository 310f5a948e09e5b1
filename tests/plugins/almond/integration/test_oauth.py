"""Applications get a token of a person by an authorization code, and by nothing else."""

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import msgspec
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.errors import ConfigError
from prolocutor.plugins.almond.door.applications import (
    Application,
    GrantedCodes,
    check_applications,
)
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import Gate, pipeline, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.listener import Listener
from tests.model_store import ModelStore

BACK = "https://home.example.org/back?house=1"
APPLICATIONS = {
    "home": {"name": "Home <b>", "redirects": [BACK], "secret": "s3cret", "days": 1},
    "phone": {"redirects": ["http://127.0.0.1/back", "phone.app:/back"]},
}
VERIFIER = "a-verifier-of-at-least-forty-three-characters-xyz"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=")
PHONE = {
    "client_id": "phone",
    "redirect_uri": "http://127.0.0.1:4711/back",
    "response_type": "code",
    "state": "x&y",
    "code_challenge": CHALLENGE.decode(),
    "code_challenge_method": "S256",
}
HOME = {"client_id": "home", "response_type": "code"}
ANN = {"Authorization": "Bearer token-of-ann"}
AUTHORIZE, TOKEN = "/me/api/oauth2/authorize", "/me/api/oauth2/token"


def read(given: dict[str, Any]) -> dict[str, Application]:
    return msgspec.convert(given, dict[str, Application])


@asynccontextmanager
async def serving() -> AsyncIterator[aiohttp.ClientSession]:
    async with Assistant(pipeline(Gate()), store="memory:") as assistant:
        ring = KeyRing(assistant.store)
        door = Almond(assistant, applications=read(APPLICATIONS), ring=ring)
        auth = AccessPolicy(tokens={"token-of-ann": "ann"})
        app = Listener(assistant, [door], auth=auth, ring=ring)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield http


async def agreed(
    http: aiohttp.ClientSession, query: dict[str, str], answer: str = "yes"
) -> tuple[str, dict[str, str]]:
    """Press a button of the page; return the address and what is added to it."""
    options: dict[str, Any] = {"params": query, "headers": ANN, "allow_redirects": False}
    async with http.post(AUTHORIZE, data={"answer": answer}, **options) as response:
        assert response.status == 303
        where = urlsplit(response.headers["Location"])
        return where._replace(query="").geturl(), dict(parse_qsl(where.query))


async def exchanged(
    http: aiohttp.ClientSession, headers: dict[str, str] | None = None, **fields: str
) -> tuple[int, dict[str, Any]]:
    form = {"grant_type": "authorization_code", **fields}
    async with http.post(TOKEN, data=form, headers=headers) as response:
        assert response.headers["Cache-Control"] == "no-store"
        return response.status, await response.json()


async def test_a_person_agrees_and_the_application_speaks_for_them() -> None:
    async with serving() as http:
        async with http.get(AUTHORIZE, params=HOME, headers=ANN) as response:
            shown = await response.text()
            policy = response.headers["Content-Security-Policy"]
        where, given = await agreed(http, PHONE)
        fields = {"client_id": "phone", "code": given["code"], "redirect_uri": where}
        status, token = await exchanged(http, **fields, code_verifier=VERIFIER)
        again, _ = await exchanged(http, **fields, code_verifier=VERIFIER)
        headers = {"Authorization": f"Bearer {token['access_token']}"}
        async with http.get("/me/api/profile", headers=headers) as response:
            profile = await response.json()
        async with http.get("/api/dialogs", headers=headers) as response:
            assert response.status in (403, 404)

    assert "May Home &lt;b&gt; speak for you?" in shown
    assert policy.endswith("form-action 'self' https://home.example.org")
    assert where == PHONE["redirect_uri"]
    assert given["state"] == "x&y"
    assert status == 200
    assert again == 400
    assert profile["id"] == "almond:ann"
    assert token["token_type"] == "Bearer"
    assert "expires_in" not in token


async def test_an_application_cannot_renew_its_own_token() -> None:
    async with serving() as http:
        where, given = await agreed(http, PHONE)
        fields = {"client_id": "phone", "code": given["code"], "redirect_uri": where}
        _, token = await exchanged(http, **fields, code_verifier=VERIFIER)
        headers = {"Authorization": f"Bearer {token['access_token']}"}
        async with http.post(
            AUTHORIZE, params=HOME, data={"answer": "yes"}, headers=headers, allow_redirects=False
        ) as response:
            assert response.status == 403


async def test_an_application_with_a_secret_needs_no_challenge() -> None:
    basic = base64.b64encode(b"home:s3cret").decode()
    async with serving() as http:
        where, given = await agreed(http, HOME)
        status, token = await exchanged(
            http, {"Authorization": f"Basic {basic}"}, code=given["code"], redirect_uri=BACK
        )

    assert where == BACK.partition("?")[0]
    assert given["house"] == "1"
    assert status == 200
    assert token["expires_in"] == 86_400


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"code": "another"}, "invalid_grant"),
        ({"code_verifier": "another"}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:1/back"}, "invalid_grant"),
        ({"client_id": "home", "client_secret": "s3cret"}, "invalid_grant"),
        ({"client_id": "home", "client_secret": "wrong"}, "invalid_client"),
        ({"client_id": "nobody"}, "invalid_client"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
    ],
)
async def test_a_code_is_worth_nothing_to_others(change: dict[str, str], error: str) -> None:
    async with serving() as http:
        where, given = await agreed(http, PHONE)
        fields = {"client_id": "phone", "code": given["code"], "redirect_uri": where}
        status, said = await exchanged(http, **{**fields, "code_verifier": VERIFIER, **change})

    assert status == (401 if error == "invalid_client" else 400)
    assert said["error"] == error


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "nobody"},
        {"redirect_uri": "https://elsewhere.example/back"},
        {"redirect_uri": "http://127.0.0.1:1;x/back"},
        {"redirect_uri": "http://ann@127.0.0.1:1/back"},
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_not_known(change: dict[str, str]) -> None:
    async with serving() as http:
        for method in ("GET", "POST"):
            query = {**PHONE, **change}
            async with http.request(method, AUTHORIZE, params=query, headers=ANN) as response:
                assert response.status == 400
                assert "Location" not in response.headers
        async with http.get(AUTHORIZE, params=PHONE) as response:
            assert response.status == 401


async def test_an_application_is_told_why_it_gets_no_code() -> None:
    async with serving() as http:
        _, refused = await agreed(http, PHONE, answer="no")
        _, plain = await agreed(http, {**PHONE, "code_challenge_method": "plain"})
        _, other = await agreed(http, {**PHONE, "response_type": "token"})

    assert refused["error"] == "access_denied"
    assert plain["error"] == "invalid_request"
    assert other["error"] == "unsupported_response_type"


async def test_a_code_ends_after_a_minute() -> None:
    now, store = [1000.0], ModelStore()
    codes = GrantedCodes(store, lambda: now[0])
    late, soon = [await codes.grant("phone", BACK, "ann", None) for _ in range(2)]
    granted = await codes.take(soon)
    now[0] += 60.0

    assert granted is not None
    assert granted.user == "ann"
    assert await codes.take(soon) is None
    assert await codes.take(late) is None


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"a b": {"redirects": [BACK]}}, "an application's id"),
        ({"a": {"redirects": []}}, "at least one address"),
        ({"a": {"redirects": ["http://away.example/"]}}, "not encrypted"),
        ({"a": {"redirects": ["javascript:alert(1)"]}}, "not safe"),
        ({"a": {"redirects": ["/back"]}}, "not a whole address"),
    ],
)
def test_a_wrong_application_is_refused(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        check_applications(read(given))


@pytest.mark.parametrize(
    ("redirect", "takes"),
    [
        ("http://127.0.0.1:8000/back", True),
        ("http://127.0.0.1:1234/other", True),
        ("https://app.example:444/back", False),
    ],
)
def test_an_address_counts_as_it_was_given_and_on_loopback_at_any_port(
    redirect: str, takes: bool
) -> None:
    application = Application(
        ["http://127.0.0.1:8000/back", "http://127.0.0.1/other", "https://app.example/back"]
    )

    assert application.takes(redirect) is takes
