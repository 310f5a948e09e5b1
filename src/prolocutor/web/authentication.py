"""Authentication: operators by keys, persons by tokens, and visitors on loopback."""

from __future__ import annotations

import functools
import hashlib
import hmac
import ipaddress
import math
import os
import re
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import structs

from prolocutor.clocks import MINUTE
from prolocutor.contracts.http import Access, Visitor
from prolocutor.errors import (
    ConfigError,
    Forbidden,
    QuotaExceeded,
    SignInNeeded,
    StoreAway,
    Unauthenticated,
)
from prolocutor.web.client_address import ClientAddresses, client_name
from prolocutor.web.cors import is_own_page
from prolocutor.web.key_ring import PREFIX, KeyRing, StoredKey
from prolocutor.web.quotas import MAX_COUNTERS, RateCounters

OPERATOR: Final = Visitor("operator", name="operator")
LOCAL: Final = Visitor("operator", name="local")
ANONYMOUS: Final = Visitor("anonymous")

NO_TRUST: Final = (
    "with {} strangers come in, also through a proxy on this machine, and all of them would be"
    " operators: leave it out and use a key"
)
"""Why loopback is not to be trusted."""

_FORWARDED: Final = frozenset(b"via cf-ray x-amzn-trace-id".split())
_ADDRESSES: Final = (b"ip", b"-addr", b"-address")
"""Headers that proxies, load balancers and content networks add, and how others of theirs end."""

Headers = Mapping[bytes, bytes]


_MARK: Final = re.compile(r"[A-Za-z0-9_.-]{1,40}")
"""Names of keys that stand in names of persons as they are."""

SESSION_ENDED: Final = 4401
"""The code by which a socket is closed whose session has ended."""


class AccessPolicy(msgspec.Struct, frozen=True):
    """Who is admitted: operators by `keys`, persons by `tokens` (token -> user).

    - `keys` may be a map to the operators' names; otherwise, all operators are called `operator`.
    - `anonymous`: whether a visitor without a key or token becomes a new person.
    - `loopback`: whether a visitor on this machine is an operator without a key, never through a
      proxy; None: only while no other visitors are admitted.
    - `own_key`: the key of this process for its user, which is not among the `keys`.
    - `trusted_proxies`: addresses and networks of proxies whose headers about a client's address
      are trusted; visitors from these addresses never count as visitors on this machine.
    - `sign_in`: whether people sign in with an identity provider.
    - `everybody`: whether any visitor without a key or token is an operator.
    """

    keys: Sequence[str] | Mapping[str, str] = ()
    tokens: Mapping[str, str] = {}
    anonymous: bool = False
    loopback: bool | None = None
    own_key: str | None = None
    trusted_proxies: Sequence[str] = ()
    sign_in: bool = False
    everybody: bool = False

    @property
    def trusts_loopback(self) -> bool:
        """Whether a visitor on this machine is an operator without a key."""
        if self.loopback is None:
            return not (self.keys or self.tokens or self.sign_in or self.anonymous)
        return self.loopback

    def __repr__(self) -> str:
        return f"<Auth: {len(self.keys)} keys, {len(self.tokens)} tokens>"


class Authenticator:
    """Identifies visitors, or refuses them.

    A key or token comes as `Authorization: Bearer ...` or `?access_token=...`. It is looked up by
    the beginning of its digest, which is keyed by a secret of this process, and compared by the
    whole digest in constant time, so the duration reveals nothing about known secrets. `origins`:
    the other sites whose pages may talk to this assistant. `prefixes`: the prefixes of the doors
    (`Channel.prefix`).
    """

    def __init__(
        self,
        auth: AccessPolicy,
        origins: Collection[str] = (),
        prefixes: Collection[str] = ("",),
        wrong_keys: int = 10,
        ring: KeyRing | None = None,
    ) -> None:
        self.auth = auth
        self._ring = ring
        self.addresses = ClientAddresses(auth.trusted_proxies)
        self.wrong = RateCounters(wrong_keys, MINUTE)
        self._used: OrderedDict[tuple[str, bytes], None] = OrderedDict()
        self._origins = frozenset(origins)
        self._salt = os.urandom(32)
        self._prefixes = tuple(prefixes)
        visitors = {token: self._person(user) for token, user in auth.tokens.items()}
        called = auth.keys if isinstance(auth.keys, Mapping) else dict.fromkeys(auth.keys, "")
        for key, name in called.items():
            operator = structs.replace(OPERATOR, key=_key_id(key, name))
            visitors[key] = structs.replace(operator, name=name) if name else operator
        digests = {self._digest(secret): visitor for secret, visitor in visitors.items()}
        self._has_secrets = bool(visitors) or auth.sign_in
        self._loopback = auth.trusts_loopback
        if auth.own_key:
            digests[self._digest(auth.own_key)] = LOCAL
        self._known = {digest[:16]: (digest, visitor) for digest, visitor in digests.items()}
        if auth.loopback and auth.anonymous:
            raise ConfigError(NO_TRUST.format("auth.anonymous"), key="auth.loopback")
        if not all(auth.keys) or not all(auth.tokens) or not all(auth.tokens.values()):
            raise ConfigError("a key, a token or its user is empty", key="auth")

    def admit(
        self,
        headers: Headers,
        query: bytes,
        client: str | None,
        access: Access = "known",
        *,
        any_secret: bool = False,
        address: str | None = None,
    ) -> Visitor:
        """Return the visitor; raise `Unauthenticated` or `Forbidden` to refuse them.

        `client` is the address of the connection, `address` the client's address behind trusted
        proxies. `any_secret`: a key or token is ignored if no keys or tokens are known. While too
        many wrong keys come from an address, raise `QuotaExceeded` for every key or token not used
        there before.
        """
        visitor = self._identify(headers, query, client, any_secret, address or client or "")
        if access == "operators" and visitor.kind != "operator":
            raise Forbidden("only operators may do this")
        return visitor

    def admit_socket(
        self,
        headers: Headers,
        query: bytes,
        client: str | None,
        access: Access = "known",
        *,
        address: str | None = None,
    ) -> Visitor:
        """Admit a visitor of a WebSocket, whose origin the server has to check."""
        if not self._own_page(headers) and "*" not in self._origins:
            raise Forbidden("pages of other sites may not open sockets here")
        return self.admit(headers, query, client, access, address=address)

    @property
    def lacks_operators(self) -> bool:
        """Whether only the key of this process admits operators."""
        auth, ringed = self.auth, self._ring.keys.values() if self._ring else ()
        has_keys = bool(auth.keys) or any(key.user is None for key in ringed)
        return not (has_keys or auth.sign_in or auth.everybody or self.trusts(None))

    def sends_secret(self, headers: Headers, query: bytes) -> bool:
        """Return whether a request has a key or a token, which takes precedence over a session."""
        return b"authorization" in headers or b"access_token=" in query

    def check_may_listen(self, addresses: Collection[str]) -> None:
        """Raise `ConfigError` for addresses where no visitor would be admitted."""
        auth = self.auth
        abroad = [address for address in addresses if not is_loopback(address)]
        if abroad and auth.loopback:
            raise ConfigError(NO_TRUST.format(f"the address {abroad[0]}"), key="auth.loopback")
        if auth.everybody:
            return
        if abroad and not (auth.keys or auth.tokens or auth.anonymous or auth.sign_in):
            raise ConfigError(
                f"{abroad[0]} can be reached from other machines, and nobody there could come in: "
                "set auth.keys, auth.tokens or a way to sign in, or listen on 127.0.0.1",
                key="auth",
            )

    def _identify(
        self,
        headers: Headers,
        query: bytes,
        client: str | None,
        any_secret: bool,
        address: str,
    ) -> Visitor:
        any_secret = any_secret and not (self._has_secrets or self._stored_keys())
        secret = None if any_secret else _secret(headers, query)
        if secret is not None:
            return self._look_up(secret, client_name(address))
        if self.auth.everybody or (self.trusts(client) and _is_local(headers, client)):
            if self._own_page(headers):
                return LOCAL
            raise Forbidden("pages of other sites need a key or a token")
        if self.auth.anonymous:
            return ANONYMOUS
        if self.auth.sign_in:
            raise SignInNeeded("sign in at /auth/login, or send a token as Authorization: Bearer")
        raise Unauthenticated("a key or a token is needed, as Authorization: Bearer ...")

    def _look_up(self, secret: str, address: str) -> Visitor:
        digest = self._digest(secret)
        is_stored = secret.startswith(PREFIX) and self._stored_keys()
        ringed = self._ring.find(secret) if self._ring and is_stored else None
        used = address, digest
        if used not in self._used and (wait := self.wrong.wait(address)):
            seconds = math.ceil(wait)
            what = f"too many wrong keys came from your address; try again in {seconds} s"
            raise QuotaExceeded(what, seconds)
        stored_digest, visitor = self._known.get(digest[:16], (b"", OPERATOR))
        if ringed is not None:
            visitor = self._find_holder(ringed)
        elif not hmac.compare_digest(stored_digest, digest):
            self.wrong.count(address)
            raise Unauthenticated("this key or token is not known")
        if used not in self._used:
            self._used[used] = None
            if len(self._used) > MAX_COUNTERS:
                self._used.popitem(last=False)
        return visitor

    def _find_holder(self, key: StoredKey) -> Visitor:
        if key.user is not None:
            return self._person(key.user, key.id)
        scopes = frozenset(key.scopes)
        return Visitor("operator", name=key.name, scopes=scopes, key=key.id)

    def _person(self, user: str, key: str = "") -> Visitor:
        names = frozenset(prefix + user for prefix in self._prefixes)
        return Visitor("person", user, names, key=key)

    def trusts(self, client: str | None) -> bool:
        """Return whether local visitors are operators, and the address is not a trusted proxy."""
        if not self._loopback or (self.addresses.any_trusted and self.addresses.trusts(client)):
            return False
        return self.auth.loopback is True or not self._stored_keys()

    def _stored_keys(self) -> bool:
        """Return whether the store has keys; raise `StoreAway` if they have not been read yet."""
        if self._ring is not None and not self._ring.is_read:
            raise StoreAway("the keys are not read yet: the store does not answer")
        return self._ring is not None and bool(self._ring.keys)

    def _own_page(self, headers: Headers) -> bool:
        """Return whether a request comes from no page, our own page or an allowed page."""
        sent, host = headers.get(b"origin"), headers.get(b"host")
        if sent is None:  # a link may lead here from anywhere, and shows what it leads to
            foreign = headers.get(b"sec-fetch-site") == b"cross-site"
            return not foreign or headers.get(b"sec-fetch-mode") == b"navigate"
        origin = sent.decode("latin-1")
        named = None if host is None else host.decode("latin-1")
        return is_own_page(origin, named) or origin in self._origins

    def _digest(self, secret: str) -> bytes:
        return hashlib.blake2b(secret.encode("utf-8", "replace"), key=self._salt).digest()


def is_loopback(address: str) -> bool:
    """Return whether only this machine can use an address."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return bool((mapped or ip).is_loopback)


def _key_id(key: str, name: str) -> str:
    """Return the id of a key of the file: its name, which outlives the key, or a digest."""
    if _MARK.fullmatch(name):
        return name
    return hashlib.blake2b((name or key).encode(), digest_size=8).hexdigest()


def _secret(headers: Headers, query: bytes) -> str | None:
    authorization = headers.get(b"authorization")
    if authorization is not None:
        scheme, _, secret = authorization.decode("utf-8", "replace").strip().partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("only Authorization: Bearer ... is understood")
        return secret.strip()
    if b"access_token=" in query:
        tokens = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("access_token")
        return tokens[-1] if tokens else None
    return None


def _is_local(headers: Headers, client: str | None) -> bool:
    """Return whether a visitor is on this machine: by address and host name, through no proxy.

    The host name counts because a page elsewhere can have its own name resolve to this machine
    (DNS rebinding).
    """
    if client is None or not (client == "127.0.0.1" or is_loopback(client)):
        return False
    if any(_is_added(name) for name in headers):
        return False
    host = headers.get(b"host")
    return host is None or _is_local_name(host)


@functools.lru_cache(maxsize=256)
def _is_added(header: bytes) -> bool:
    return header in _FORWARDED or b"forwarded" in header or header.endswith(_ADDRESSES)


@functools.lru_cache(maxsize=256)
def _is_local_name(host: bytes) -> bool:
    try:
        name = urlsplit(f"//{host.decode('ascii')}").hostname or ""
    except ValueError:
        return False
    return name == "localhost" or name.endswith(".localhost") or is_loopback(name)


class SessionFinder(Protocol):
    """The sessions of visitors who signed in; their browsers send a cookie."""

    url: str | None
    """The address of this server for browsers; None for the address of the request."""

    async def find(self, header: str | None) -> Visitor | None:
        """Return the visitor with this header `Cookie`; None without a valid session."""

    async def wait_for_end(self, visitor: Visitor) -> None:
        """Wait until the session of a visitor has ended."""


class SessionAdmission:
    """Admits the visitor of a session (`listener.Admit`)."""

    def __init__(self, visitor: Visitor, url: str | None, *, writes: bool) -> None:
        self._visitor = visitor
        self._url = url
        self._writes = writes

    def __call__(
        self,
        headers: Headers,
        query: bytes,
        client: str | None,
        access: Access,
        *,
        address: str | None,
    ) -> Visitor:
        """Return the visitor; raise `Forbidden` if the session does not permit the request."""
        admit_session(self._visitor, headers, access, url=self._url, writes=self._writes)
        return self._visitor


def admit_session(
    visitor: Visitor, headers: Headers, access: Access, *, url: str | None, writes: bool
) -> None:
    """Raise `Forbidden` if a visitor's session does not permit a request.

    Browsers send cookies with every request, even from other sites' pages: a write has to name our
    own page as its origin, and no request may name another page. `origins` of a file do not count
    here. A form of a page without a referrer has the origin `null`; then the browser's header
    `Sec-Fetch-Site` counts, which no page can set.
    """
    origin = headers.get(b"origin")
    if origin in (None, b"null") and headers.get(b"sec-fetch-site") == b"same-origin":
        pass
    elif origin is None:
        if writes:
            raise Forbidden("a request with a session needs the header Origin; or use a token")
    elif not _is_own(origin.decode("latin-1"), headers.get(b"host", b"").decode("latin-1"), url):
        raise Forbidden("a session counts only for pages of this server; or use a token")
    if access == "operators" and visitor.kind != "operator":
        raise Forbidden("only operators may do this")


def _is_own(origin: str, host: str, url: str | None) -> bool:
    try:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https"):
            return False
        if url is not None:
            own = urlsplit(url)
            return (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
    except ValueError:
        return False
    return is_own_page(origin, host)
