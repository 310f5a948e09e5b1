"""Sessions: the persons who are signed in, by the cookies of their browsers."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import msgspec
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from prolocutor.background import BackgroundTasks
from prolocutor.clocks import DAY
from prolocutor.contracts.http import KeyScope, Visitor
from prolocutor.contracts.store import RecordStore
from prolocutor.errors import ProviderAway, SignInFailed, StoreError
from prolocutor.plugins.openid.openid_settings import OpenIdSettings
from prolocutor.plugins.openid.provider import Grant, IdentityProvider
from prolocutor.plugins.openid.roles import PREFIX, SignedIn, find_role

HOST_PREFIX: Final = "__Host-"
"""The prefix of names that browsers let no other host set, for connections with TLS."""

MAX_HEADER: Final = 16_384

log = logging.getLogger(__name__)

COOKIE: Final = "prolocutor_session"
KIND: Final = "openid-session"
"""The kind of a person's records that are sessions."""

MAX_SESSIONS: Final = 20
"""Sessions of one person; beyond that the oldest ends."""

MAX_CACHED: Final = 20_000
RELOAD_SECONDS: Final = 10.0
"""Seconds after which a session that was ended elsewhere has ended here."""

SOCKET_STEP: Final = 30.0
"""Seconds between two looks at the session of an open socket."""

USE_STEP: Final = 300.0
"""Seconds by which the last use has to be later to be written again, at most."""

RETRY_SECONDS: Final = 30.0
"""Seconds until a provider that does not answer is asked again."""

_VALUE: Final = re.compile(rf"({PREFIX}[0-9a-f]{{32}})\.([A-Za-z0-9_-]{{43}})")

LOOKED_BACK: Final = 60
"""Days whose sessions are deleted at a start; a server that was off for longer leaves the older."""


def cookie_name(name: str, *, secure: bool) -> str:
    """Return the full name of a cookie, with the prefix that browsers enforce."""
    return f"{HOST_PREFIX}{name}" if secure else name


def read_cookies(header: str | None, name: str, *, secure: bool = False) -> dict[str, str]:
    """Return the cookies whose names begin with `name`, keyed by the rest of their names.

    A cookie with the prefix that other hosts cannot set wins over the same cookie without it.
    `secure`: only cookies with the prefix count, since any sibling host can set the others.
    """
    if not header or name not in header or len(header) > MAX_HEADER:
        return {}
    found: dict[str, str] = {}
    for pair in header.split(";"):
        key, _, value = pair.strip().partition("=")
        safe = key.startswith(HOST_PREFIX)
        bare = key.removeprefix(HOST_PREFIX)
        if bare.startswith(name) and (safe or not secure):
            rest = bare.removeprefix(name)
            if safe or rest not in found:
                found[rest] = value.strip('"')
    return found


def write_cookie(name: str, value: str, seconds: int, *, secure: bool) -> str:
    """Return the value of `Set-Cookie`; `seconds` of 0 makes the browser delete the cookie."""
    tls = "; Secure" if secure else ""
    named = cookie_name(name, secure=secure)
    return f"{named}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{tls}"


class StoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session. Times are in UNIX seconds.

    `id` is a digest of the secret in the cookie, which the store does not have; `tokens` are
    encrypted with a key made from that secret. A reader of the store can use neither.
    """

    id: str
    person: str
    subject: str
    name: str
    scopes: tuple[KeyScope, ...] | None
    created: float
    expires: float
    used: float
    checked: float
    sid: str | None
    tokens: str


class ProviderTokens(msgspec.Struct, frozen=True):
    """The tokens of a grant, before encryption."""

    id_token: str | None = None
    refresh_token: str | None = None


class _Held(msgspec.Struct):
    """A session from the store, and the secret of the cookie that named it."""

    session: StoredSession
    secret: str
    read_at: float
    ended: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    renewing: asyncio.Task[bool] | None = None


class Sessions:
    """The sessions of a server, kept in its store over restarts.

    `prefixes` are the doors' prefixes of persons (`Channel.prefix`).
    """

    def __init__(
        self,
        records: RecordStore,
        provider: IdentityProvider,
        prefixes: tuple[str, ...] = ("",),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.prefixes = prefixes
        self._records = records
        self._provider = provider
        self._settings: OpenIdSettings = provider.settings
        self._clock = clock
        self._secure = (self._settings.url or "").startswith("https:")
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._renewing = BackgroundTasks("session")
        self._away_until = 0.0
        self.days = SessionDays(records, KIND, clock)

    async def aclose(self) -> None:
        """Stop the background tasks; the sessions stay."""
        await self._renewing.aclose()

    async def create(self, who: SignedIn, grant: Grant) -> str:
        """Create a session; return the value of its cookie."""
        now, secret = self._clock(), secrets.token_urlsafe(32)
        sid = grant.claims.get("sid")
        session = StoredSession(
            id=_digest(secret),
            person=who.person,
            subject=grant.claims["sub"],
            name=who.name,
            scopes=who.scopes,
            created=now,
            expires=now + self._settings.session,
            used=now,
            checked=now,
            sid=sid if isinstance(sid, str) else None,
            tokens=_encrypt(ProviderTokens(grant.id_token, grant.refresh_token), secret),
        )
        sessions = await self._find_sessions(who.person)
        for old in sorted(sessions.values(), key=lambda one: one.used)[
            : max(0, len(sessions) + 1 - MAX_SESSIONS)
        ]:
            await self.end(old)
        await self.days.note(session.person, session.expires)
        await self._write(session)
        self._hold(session, secret)
        return f"{who.person}.{secret}"

    async def find(self, header: str | None) -> Visitor | None:
        """Return the visitor of a header `Cookie`; None without a valid session."""
        held = await self._find(header)
        return None if held is None else self._visitor(held.session)

    async def wait_for_end(self, visitor: Visitor) -> None:
        """Wait until a visitor's session has ended; an open connection counts as use of it."""
        held = self._held.get(visitor.session or "")
        while held is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(SOCKET_STEP):
                    await held.ended.wait()
            with suppress(StoreError):  # it goes on until its end is known
                held = await self._live(held)

    async def sign_out(self, header: str | None) -> ProviderTokens | None:
        """End the session of a header `Cookie`; return its tokens, if it had any."""
        held = await self._find(header)
        if held is None:
            return None
        await self.end(held.session)
        return _decrypt(held.session.tokens, held.secret)

    async def end_all(self, person: str, sid: str | None) -> int:
        """End all sessions of a person, or of a provider session `sid`; return their number."""
        sessions = [
            session
            for session in (await self._find_sessions(person)).values()
            if sid in (None, session.sid)
        ]
        for session in sessions:
            await self.end(session)
        return len(sessions)

    async def end(self, session: StoredSession) -> None:
        """End a session."""
        held = self._held.pop(session.id, None)
        if held is not None:
            held.ended.set()
        await self._records.delete_record(session.person, KIND, session.id)

    # -- finding ----------------------------------------------------------------------------

    async def _find(self, header: str | None) -> _Held | None:
        value = read_cookies(header, COOKIE, secure=self._secure).get("", "")
        match = _VALUE.fullmatch(value)
        if match is None:
            return None
        person, secret = match.groups()
        id_ = _digest(secret)
        held = self._held.get(id_)
        if held is None:
            session = (await self._find_sessions(person)).get(id_)
            if session is None:
                return None
            held = self._hold(session, secret)
        if not hmac.compare_digest(held.session.person, person):
            return None
        return await self._live(held)

    async def _live(self, held: _Held) -> _Held | None:
        """Return a session, rechecked at the provider if due; None if it has ended."""
        now = self._clock()
        if now - held.read_at >= RELOAD_SECONDS:
            await self._reload(held)
        session = held.session
        if held.ended.is_set() or now >= min(session.expires, session.used + self._settings.idle):
            with suppress(StoreError):
                await self.end(session)
            held.ended.set()
            return None
        if now - session.used >= min(USE_STEP, self._settings.idle / 4):
            held.session = msgspec.structs.replace(session, used=now)
            with suppress(StoreError):  # a full disk signs nobody out
                await self._write(held.session)
        if now - session.checked >= self._settings.recheck and not await self._renew_once(held):
            return None
        return held

    async def _reload(self, held: _Held) -> None:
        """Read a session again, because another replica may have ended or renewed it."""
        stored = (await self._find_sessions(held.session.person)).get(held.session.id)
        held.read_at = self._clock()
        if stored is None:
            held.ended.set()
        elif stored.checked > held.session.checked:
            held.session = stored

    def _hold(self, session: StoredSession, secret: str) -> _Held:
        held = self._held.get(session.id)
        if held is None:
            held = self._held[session.id] = _Held(session, secret, self._clock())
        while len(self._held) > MAX_CACHED:
            self._held.popitem(last=False)
        return held

    def _visitor(self, session: StoredSession) -> Visitor:
        names = frozenset(prefix + session.person for prefix in self.prefixes)
        if session.scopes is None:
            return Visitor("person", session.person, names, session.name, session=session.id)
        scopes = frozenset(session.scopes)
        return Visitor("operator", session.person, names, session.name, scopes, session.id)

    # -- asking the provider again ----------------------------------------------------------

    async def _renew_once(self, held: _Held) -> bool:
        """Fetch the present claims, in turn; return whether the session is valid."""
        if self._clock() < self._away_until:
            return True
        if held.renewing is None or held.renewing.done():
            held.renewing = self._renewing.start(self._renew(held), awaited=True)
        return await asyncio.shield(held.renewing)

    async def _renew(self, held: _Held) -> bool:
        with suppress(StoreError):
            await self._reload(held)
        session = held.session
        if held.ended.is_set():
            return False
        if self._clock() - session.checked < self._settings.recheck:
            return True  # another replica did it
        tokens = _decrypt(session.tokens, held.secret)
        grant: Grant | None = None
        try:
            if tokens is not None and tokens.refresh_token is not None:
                grant = await self._provider.renew(tokens.refresh_token, session.subject)
        except ProviderAway as error:
            log.warning("sessions go on without the identity provider: %s", error)
            self._away_until = self._clock() + RETRY_SECONDS
            return True
        except SignInFailed as error:
            await self._reload(held)
            if held.session.checked > session.checked:
                return True  # another replica was faster: its token is the one that counts
            log.info("the session of %s (%s) ended: %s", session.person, session.name, error)
            await self._forget(held)
            return False
        renewed: dict[str, Any] = {"checked": self._clock()}
        if grant is not None:
            if grant.claims:
                who = find_role(grant.claims, self._settings)
                if who is None:
                    await self._forget(held)
                    return False
                renewed |= {"name": who.name, "scopes": who.scopes}
            id_token = grant.id_token or (tokens.id_token if tokens is not None else None)
            kept = ProviderTokens(id_token, grant.refresh_token)
            renewed["tokens"] = _encrypt(kept, held.secret)
        held.session = msgspec.structs.replace(held.session, **renewed)
        with suppress(StoreError):
            await self._write(held.session)
        return True

    async def _forget(self, held: _Held) -> None:
        held.ended.set()
        with suppress(StoreError):
            await self.end(held.session)

    # -- the store --------------------------------------------------------------------------

    async def _find_sessions(self, person: str) -> dict[str, StoredSession]:
        """Return a person's sessions by id; delete ended sessions on the way."""
        found = {}
        for id_, body in (await self._records.records(person, KIND)).items():
            session = read_session(body)
            if session is None or self._clock() >= session.expires:
                await self._records.delete_record(person, KIND, id_)
            else:
                found[id_] = session
        return found

    async def _write(self, session: StoredSession) -> None:
        body = msgspec.json.encode(session)
        await self._records.put_record(session.person, KIND, session.id, body)


def read_session(body: bytes) -> StoredSession | None:
    """Decode a stored session; return None if it is damaged."""
    try:
        return msgspec.json.decode(body, type=StoredSession)
    except msgspec.DecodeError:
        return None


def _digest(secret: str) -> str:
    return hashlib.blake2b(secret.encode(), digest_size=16, person=b"session").hexdigest()


def _encrypt(tokens: ProviderTokens, secret: str) -> str:
    header = {"alg": "dir", "enc": "A256GCM"}
    return jwe.encrypt_compact(header, msgspec.json.encode(tokens), _token_key(secret))


def _decrypt(text: str, secret: str) -> ProviderTokens | None:
    try:
        plain = jwe.decrypt_compact(text, _token_key(secret)).plaintext
        return msgspec.json.decode(plain or b"", type=ProviderTokens)
    except (JoseError, ValueError, msgspec.DecodeError):
        return None


def _token_key(secret: str) -> OctKey:
    key = hashlib.blake2b(secret.encode(), digest_size=32, person=b"tokens").digest()
    return OctKey.import_key(key)


class _Ending(msgspec.Struct):
    """The part of a session that the index reads."""

    expires: float


class SessionDays:
    """The persons with sessions of a `kind`, by the last day of these sessions.

    The index finds ended sessions of persons who do not return; other ended sessions are deleted
    when they are read.
    """

    def __init__(
        self, records: RecordStore, kind: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._records = records
        self._kind = kind
        self._clock = clock

    async def note(self, person: str, expires: float) -> None:
        """Record the day on which a session of a person ends."""
        await self._records.put_record("", self._list(int(expires // DAY)), person, b"{}")

    async def sweep(self) -> int:
        """Delete the sessions that ended before today; return their number."""
        now, swept = self._clock(), 0
        today = int(now // DAY)
        for day in range(today - LOOKED_BACK, today):
            for person in await self._records.records("", self._list(day)):
                swept += await self._sweep(person, now)
                await self._records.delete_record("", self._list(day), person)
        return swept

    async def _sweep(self, person: str, now: float) -> int:
        ended = [
            id_
            for id_, body in (await self._records.records(person, self._kind)).items()
            if msgspec.json.decode(body, type=_Ending).expires <= now
        ]
        for id_ in ended:
            await self._records.delete_record(person, self._kind, id_)
        return len(ended)

    def _list(self, day: int) -> str:
        return f"{self._kind}s-ending-{day}"
