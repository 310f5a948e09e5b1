"""Signing in with an identity provider that really signs, over real sockets."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import msgspec
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.console.channel import Console
from prolocutor.plugins.openid.login_attempt import SIGN_IN_SECONDS
from prolocutor.plugins.openid.openid_settings import ClaimRule, OpenIdSettings
from prolocutor.plugins.openid.roles import person_id
from prolocutor.plugins.openid.sessions import KIND
from prolocutor.plugins.openid.sign_in import SignIn
from prolocutor.plugins.page.channel import Page
from prolocutor.testing.channel_kit import Gate, pipeline, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from tests.model_store import ModelStore
from tests.openid_provider import CLIENT, EC, SECRET, OpenIdProvider, openid_provider, rsa

OPERATORS = (
    ClaimRule(claim="groups", values=("support",), scopes=("operate", "read")),
    ClaimRule(claim="realm_access.roles", values=("reader",), scopes=("read",)),
    ClaimRule(claim="email", values=("root@example.org",)),
)


class Site(msgspec.Struct):
    url: str
    provider: OpenIdProvider
    sign_in: SignIn
    store: ModelStore

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[aiohttp.ClientSession]:
        """A browser with cookies, whose pages are the server's own."""
        jar = aiohttp.CookieJar(unsafe=True)
        headers = {"Origin": self.url}
        async with aiohttp.ClientSession(self.url, cookie_jar=jar, headers=headers) as http:
            yield http

    async def sign_in_as(self, http: aiohttp.ClientSession, **user: Any) -> str:
        """Sign somebody in; return the person's id."""
        self.provider.user |= user
        async with http.get("/auth/login", params={"next": "/page/icon.svg"}) as response:
            assert response.status == 200
            assert response.url.path == "/page/icon.svg"
        return person_id(self.provider.issuer, self.provider.user["sub"])


@asynccontextmanager
async def site(**changes: Any) -> AsyncIterator[Site]:
    async with openid_provider() as provider:
        settings = OpenIdSettings(
            issuer=provider.issuer,
            client_id=CLIENT,
            client_secret=SECRET,
            operators=OPERATORS,
            **changes,
        )
        store = ModelStore()
        async with Assistant(pipeline(Gate()), store=store) as assistant:
            doors = [
                DeepPavlov(assistant),
                Almond(assistant),
                Page(DoorContext(assistant)),
                Console(DoorContext(assistant)),
            ]
            sign_in = SignIn(assistant, settings, tuple(door.prefix for door in doors))
            auth = AccessPolicy(keys={"key": "root"}, sign_in=True)
            app = Listener(assistant, [*doors, sign_in], auth=auth, sessions=sign_in)
            async with running(app) as url:
                yield Site(url, provider, sign_in, store)


async def status(http: aiohttp.ClientSession, method: str, path: str, **more: Any) -> int:
    async with http.request(method, path, **more) as response:
        await response.read()
        return response.status


SAY = {"json": {"payload": "hi"}}


async def test_who_signs_in_is_a_person_with_dialogs_of_their_own() -> None:
    async with site() as it, it.browser() as ann, it.browser() as bob:
        async with ann.get("/api/visitor") as refused:
            assert refused.status == 401
            assert (await refused.json())["code"] == "sign_in_needed"
        person = await it.sign_in_as(ann)
        other = await it.sign_in_as(bob, sub="u-2", preferred_username="Bob")
        async with ann.get("/api/visitor") as response:
            assert (await response.json())["user"] == person
        assert person != other

        assert await status(ann, "POST", "/", **SAY) == 200
        assert await status(ann, "GET", f"/api/user/{person}") == 200
        assert await status(bob, "GET", f"/api/user/{person}") == 403
        assert await status(ann, "GET", "/api/console/handovers") == 403
        async with ann.ws_connect("/api/conversation") as socket:
            await socket.send_json({"type": "command", "text": "hello"})
            while '"1: hello"' not in (await socket.receive_str(timeout=60)):
                pass
        (cookie,) = ann.cookie_jar  # that of the sign-in is gone
        assert cookie.key == "prolocutor_session"
        assert cookie["httponly"] is True
        assert cookie["samesite"] == "Lax"
        assert cookie["path"] == "/"
        stored = (await it.store.records(person, KIND)).values()
        assert all(cookie.value.split(".")[1].encode() not in one for one in stored)


ROLES: Any = [
    ({"groups": ["support", "x"]}, {}, {"list", "take", "say"}),
    ({"groups": "support"}, {}, {"list", "take", "say"}),
    ({"realm_access": {"roles": ["reader"]}}, {}, {"list"}),
    ({"email": "root@example.org", "email_verified": True}, {}, {"list", "take", "say"}),
    ({"email": "root@example.org"}, {}, {"say"}),
    ({"groups": None}, {"groups": ["support"]}, {"list", "take", "say"}),
    ({"groups": ["Support", "supporters"]}, {}, {"say"}),
    ({"groups": {"support": True}}, {}, {"say"}),
]


async def test_claims_say_what_somebody_may() -> None:
    seen = []
    async with site() as it:
        plain = it.provider.user
        for user, told, _ in ROLES:
            it.provider.user, it.provider.told = dict(plain), told
            async with it.browser() as http:
                await it.sign_in_as(http, **user)
                take = f"/api/console/conversations/{'0' * 32}/take"
                ways = {
                    "list": await status(http, "GET", "/api/console/handovers"),
                    "take": await status(http, "POST", take, json={}),
                    "say": await status(http, "POST", "/", **SAY),
                }
            assert set(ways.values()) <= {200, 404, 403}
            seen.append({name for name, way in ways.items() if way != 403})
    assert seen == [may for _, _, may in ROLES]


async def test_what_another_site_has_a_browser_do_does_not_count() -> None:
    async with site() as it, it.browser() as http:
        await it.sign_in_as(http, groups=["support"])
        foreign = {"Origin": "https://evil.example"}
        for headers in (foreign, {"Origin": "null"}, {"Origin": "http://["}):
            assert await status(http, "POST", "/", headers=headers, **SAY) == 403
            assert await status(http, "GET", "/api/visitor", headers=headers) == 403
            assert await status(http, "POST", "/auth/logout", headers=headers) == 403
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await http.ws_connect("/api/conversation", headers=headers)
        value = http.cookie_jar.filter_cookies(http._base_url)["prolocutor_session"].value  # type: ignore[arg-type]
        async with aiohttp.ClientSession(it.url) as bare:
            cookie = {"Cookie": f"prolocutor_session={value}"}
            assert await status(bare, "GET", "/api/visitor", headers=cookie) == 200
            assert await status(bare, "POST", "/", headers=cookie, **SAY) == 403
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await bare.ws_connect("/api/conversation", headers=cookie)
            key = {**cookie, "Authorization": "Bearer key"}
            assert await status(bare, "GET", "/metrics", headers=key) == 404  # as root, without one
            form = {**cookie, "Origin": "null", "Sec-Fetch-Site": "same-origin"}
            assert await status(bare, "POST", "/", headers=form, **SAY) == 200
            forged = {
                "Cookie": f"prolocutor_session={value[:-1]}{'A' if value[-1] != 'A' else 'B'}"
            }
            assert await status(bare, "GET", "/api/visitor", headers=forged) == 401


FAULTS: list[dict[str, Any]] = [
    {"signed": "none"},
    {"signed": "HS256 with the public key"},
    {"signed": "HS256 with the secret"},
    {"signed": "a key of its own"},
    {"signed": "its key in the header"},
    {"claims": {"iss": "http://localhost/other"}},
    {"claims": {"aud": "somebody-else"}},
    {"claims": {"aud": [CLIENT, "somebody-else"]}},
    {"claims": {"azp": "somebody-else"}},
    {"claims": {"exp": 1_000_000_000}},
    {"claims": {"exp": None}},
    {"claims": {"iat": 4_000_000_000}},
    {"claims": {"nonce": "another"}},
    {"claims": {"nonce": None}},
    {"claims": {"sub": None}},
    {"claims": {"sub": 7}},
    {"claims": {"at_hash": "another"}},
    {"answer": {"state": "another"}},
    {"answer": {"code": "guessed"}},
    {"answer": {"iss": "https://evil.example"}},
    {"denied": True},
]


async def test_nobody_comes_in_by_what_is_not_signed_for_us() -> None:
    async with site() as it:
        for faults in FAULTS:
            it.provider.faults = faults
            async with it.browser() as http:
                async with http.get("/auth/login") as response:
                    assert (response.status, response.url.path) == (403, "/auth/callback"), faults
                    assert (await response.json())["code"] == "sign_in_failed"
                assert await status(http, "GET", "/api/visitor") == 401


async def test_keys_are_rotated_and_clocks_may_differ() -> None:
    async with site(clock_skew=120) as it, it.browser() as http:
        await it.sign_in_as(http)
        now = int(time.time())
        it.sign_in._provider._keys_at -= 60  # the pause between two requests for keys is over
        it.provider.signing, it.provider.published = EC, [rsa(1), EC]
        it.provider.faults = {"claims": {"iat": now + 100, "exp": now - 100, "aud": [CLIENT]}}
        await it.sign_in_as(http)
        assert it.provider.asked.count("/keys") == 2
        assert await status(http, "GET", "/api/visitor") == 200
        it.provider.faults = {"claims": {"iat": now + 1000}}
        assert await status(http, "GET", "/auth/login") == 403


async def test_where_to_go_afterwards_is_on_this_server() -> None:
    async with site() as it, it.browser() as http:
        for elsewhere in (
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "/a\r\nX: y",
        ):
            async with http.get("/auth/login", params={"next": elsewhere}) as response:
                assert response.url.path == "/"
                assert str(response.url.origin()) == it.url
        async with http.get("/auth/login", allow_redirects=False) as response:
            asked = parse_qs(urlsplit(response.headers["Location"]).query)
            assert asked["redirect_uri"] == [f"{it.url}/auth/callback"]
            assert len(asked["code_challenge"][0]) == 43
            assert response.headers["Cache-Control"] == "no-store"
        headers = {"X-Forwarded-Proto": "https", "Host": "chat.example.org"}
        async with http.get("/auth/login", headers=headers, allow_redirects=False) as response:
            asked = parse_qs(urlsplit(response.headers["Location"]).query)
            assert asked["redirect_uri"] == ["https://chat.example.org/auth/callback"]
            cookie = response.headers["Set-Cookie"]
            assert cookie.startswith("__Host-")
            assert cookie.endswith("; Secure")


async def test_with_tls_cookies_that_another_host_may_have_set_count_for_nothing() -> None:
    plain = aiohttp.DummyCookieJar()
    async with (
        site(url="https://chat.example.org") as it,
        aiohttp.ClientSession(it.url, cookie_jar=plain) as http,
    ):
        begun = await redirected(http, "/auth/login")
        answer = await redirected(http, begun.headers["Location"])
        path = answer.headers["Location"].removeprefix("https://chat.example.org")
        attempt = begun.headers["Set-Cookie"].partition(";")[0]
        planted = {"Cookie": attempt.removeprefix("__Host-")}
        assert await status(http, "GET", path, headers=planted) == 403

        done = await redirected(http, path, headers={"Cookie": attempt})
        session = done.headers.getall("Set-Cookie")[-1].partition(";")[0]
        assert await status(http, "GET", "/api/visitor", headers={"Cookie": session}) == 200
        planted = {"Cookie": session.removeprefix("__Host-")}
        assert await status(http, "GET", "/api/visitor", headers=planted) == 401


async def redirected(http: aiohttp.ClientSession, path: str, **more: Any) -> aiohttp.ClientResponse:
    async with http.get(path, allow_redirects=False, **more) as response:
        await response.read()
        return response


async def test_an_answer_counts_once_and_in_one_browser() -> None:
    async with site() as it, it.browser() as ann, it.browser() as bob:
        async with ann.get("/auth/login", allow_redirects=False) as response:
            to = response.headers["Location"]
        async with ann.get(to, allow_redirects=False) as response:
            answer = response.headers["Location"]
        assert await status(bob, "GET", answer) == 403
        assert await status(ann, "GET", answer) == 200
        assert await status(ann, "GET", answer) == 403


async def test_an_attempt_counts_for_ten_minutes_also_if_its_cookie_was_kept() -> None:
    ages = {}
    async with site() as it, it.browser() as http:
        for age in (SIGN_IN_SECONDS - 60, SIGN_IN_SECONDS + 60):
            async with http.get("/auth/login", allow_redirects=False) as response:
                to = response.headers["Location"]
                (cookie,) = response.cookies.values()
            async with http.get(to, allow_redirects=False) as response:
                answer = response.headers["Location"]
            kept, _, begun = cookie.value.rpartition("~")
            headers = {"Cookie": f"{cookie.key}={kept}~{int(begun) - age}"}
            async with aiohttp.ClientSession(it.url, headers=headers) as later:
                ages[age - SIGN_IN_SECONDS] = await status(
                    later, "GET", answer, allow_redirects=False
                )

    assert ages == {-60: 303, 60: 403}


async def test_who_signs_out_is_out_and_so_are_their_sockets() -> None:
    async with site() as it, it.browser() as http, it.browser() as other:
        person = await it.sign_in_as(http)
        await it.sign_in_as(other)
        async with http.ws_connect("/api/conversation") as socket:
            async with http.post("/auth/logout") as response:
                query = parse_qs(urlsplit((await response.json())["url"]).query)
                assert query["client_id"] == [CLIENT]
                assert "id_token_hint" in query
            while (await socket.receive(timeout=60)).type != aiohttp.WSMsgType.CLOSE:
                pass
            assert socket.close_code == 4401
        assert await status(http, "GET", "/api/visitor") == 401
        assert await status(other, "GET", "/api/visitor") == 200
        events = {"http://schemas.openid.net/event/backchannel-logout": {}}
        token = it.provider.id_token({"events": events})
        assert await status(other, "POST", "/auth/backchannel-logout", data={}) == 400
        no = {"logout_token": it.provider.id_token({})}
        assert await status(other, "POST", "/auth/backchannel-logout", data=no) == 403
        yes = {"logout_token": token}
        assert await status(other, "POST", "/auth/backchannel-logout", data=yes) == 200
        assert await status(other, "GET", "/api/visitor") == 401
        assert await it.store.records(person, KIND) == {}


async def test_sessions_go_on_while_the_provider_is_away() -> None:
    async with site(recheck=0.001) as it, it.browser() as http, it.browser() as late:
        await it.sign_in_as(http)
        it.provider.faults = {"away": True}
        assert await status(http, "GET", "/api/visitor") == 200
        assert await status(http, "GET", "/api/visitor") == 200
        it.sign_in._provider._document = None
        async with late.get("/auth/login", headers={"Accept": "text/html"}) as response:
            text = await response.text()
            assert response.status == 503
            assert response.headers["Retry-After"] == "10"
            assert "does not answer" in text
            assert "Try again" in text


@pytest.mark.parametrize(
    ("changed", "after"),
    [
        ({"groups": ["support"]}, (200, 200)),
        ({"groups": []}, (200, 403)),
        ({"sub": "somebody-else"}, (401, 401)),
        (None, (401, 401)),
    ],
)
async def test_claims_are_asked_for_again(changed: Any, after: tuple[int, int]) -> None:
    async with site(recheck=10) as it, it.browser() as http:
        now = [time.time()]
        it.sign_in.sessions._clock = lambda: now[0]
        await it.sign_in_as(http, groups=["support"])
        assert await status(http, "GET", "/api/console/handovers") == 200
        now[0] += 11
        it.provider.user |= changed or {}
        it.provider.faults = {} if changed else {"revoked": True}
        first, *rest = await asyncio.gather(
            *(status(http, "GET", "/api/visitor") for _ in range(4))
        )
        assert {first, *rest} == {after[0]}
        assert await status(http, "GET", "/api/console/handovers") == after[1]


async def test_sessions_end_and_outlive_a_restart() -> None:
    async with site(session=100, idle=50) as it, it.browser() as http:
        now = [time.time()]
        sessions = it.sign_in.sessions
        sessions._clock = sessions.days._clock = lambda: now[0]
        await it.sign_in_as(http)
        now[0] += 40
        assert await status(http, "GET", "/api/visitor") == 200
        sessions._held.clear()  # as after a restart
        now[0] += 40
        assert await status(http, "GET", "/api/visitor") == 200
        now[0] += 40
        assert await status(http, "GET", "/api/visitor") == 401
        await it.sign_in_as(http)
        now[0] += 51
        assert await status(http, "GET", "/api/visitor") == 401
        person = await it.sign_in_as(http)
        now[0] += 200_000
        assert await sessions.days.sweep() == 1
        assert await it.store.records(person, KIND) == {}
