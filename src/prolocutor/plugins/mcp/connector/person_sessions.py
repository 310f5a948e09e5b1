"""PersonSessions: a session with the server for each person who has signed in there.

All other persons share a session. The assistant's own token belongs to the person "".
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.connectors.parts.connecting import Network
from prolocutor.contracts.store import RecordStore
from prolocutor.errors import ServiceError
from prolocutor.plugins.mcp.connector.http_peer import HttpPeer
from prolocutor.plugins.mcp.connector.peer import ServerPeer
from prolocutor.plugins.mcp.connector.session import McpSession
from prolocutor.plugins.mcp.oauth.discovery import TokenNeeded, find_protection
from prolocutor.plugins.mcp.oauth.settings import OAuthSettings
from prolocutor.plugins.mcp.oauth.tokens import ServerToken, own_token, renew
from prolocutor.plugins.mcp.oauth.vault import SIGN_IN_SECONDS, BegunSignIn, Vault
from prolocutor.plugins.mcp.oauth.web import GrantDenied, OAuthWeb

MAX_SESSIONS: Final = 1_000
"""Sessions that are kept open; beyond it the one unused for longest is ended."""

OWN: Final = ""


class PersonSession:
    """A session, and the token of its requests."""

    def __init__(self, peer: ServerPeer, session: McpSession) -> None:
        self.peer = peer
        self.session = session
        self.token: ServerToken | None = None

    def use(self, token: ServerToken) -> None:
        """Use a token for all further requests."""
        self.token = token
        if isinstance(self.peer, HttpPeer):
            self.peer.token = token.access


class PersonSessions:
    """The sessions of a connector with its server at `url`; `make` begins a session.

    Without `settings` nobody signs in.
    """

    def __init__(
        self,
        url: str,
        make: Callable[[], PersonSession],
        settings: OAuthSettings | None,
        records: RecordStore | None,
    ) -> None:
        self._url = url
        self._make = make
        self._settings = settings
        self._vault = None if records is None else Vault(records)
        self._shared = make()
        self._own: OrderedDict[str, PersonSession] = OrderedDict()
        self._lock = asyncio.Lock()
        self._wants_tokens = False
        self._ending = BackgroundTasks("end of an MCP session")

    @property
    def tells_persons_apart(self) -> bool:
        """Whether each person has a session of their own."""
        return self._wants_tokens and not self._is_own

    async def find_session(self, user: str) -> PersonSession:
        """Return the session of a person, with a renewed token if the old token has expired."""
        if not self._wants_tokens or self._settings is None:
            return self._shared
        user = OWN if self._is_own else user
        found = self._own.get(user)
        if found is None:
            token = await self._vault.token(user, self._url) if self._vault else None
            if token is None:
                return self._shared
            found = self._begin(user, token)
        self._own.move_to_end(user)
        token = found.token
        if token is not None and token.refresh and token.is_old(time.time()):
            async with self._lock:
                if found.token is token and (made := await self._renew_token(user, token)):
                    found.use(made)
        return found

    async def retry_session(
        self, needed: TokenNeeded, user: str, refused: PersonSession
    ) -> PersonSession | None:
        """Return a session to try after a refusal; None if the person has to sign in.

        Raise a `ServiceError` if signing in cannot help.
        """
        if self._settings is None:
            raise needed
        self._wants_tokens = True
        user = OWN if self._is_own else user
        used = refused.token
        async with self._lock:
            kept = await self._vault.token(user, self._url) if self._vault else None
            if kept is None and user in self._own:
                kept = self._own[user].token
            if kept is not None and (used is None or kept.access != used.access):
                return self._begin(user, kept)
            renews = used is not None and used.refresh and needed.status == 401
            if used is not None and renews and (made := await self._renew_token(user, used)):
                return self._begin(user, made)
            if not self._is_own:
                return None
            if used is not None and needed.status == 403:
                self._check_more(needed, used)
            web = OAuthWeb(self._find_networks())
            protection = await find_protection(self._url, needed.challenge, self._settings, web)
            made = await own_token(protection, self._settings, web)
            await self._keep(user, made)
            return self._begin(user, made)

    async def link(self, needed: TokenNeeded, user: str, refused: PersonSession) -> str:
        """Begin a sign-in; return the address at which the person continues it."""
        assert self._settings is not None
        if self._vault is None or not user:
            raise ServiceError("it wants people to sign in, and who speaks is not known here")
        used = refused.token
        if used is not None and needed.status == 403:
            self._check_more(needed, used)
        within = self._find_networks()
        web = OAuthWeb(within)
        found = await find_protection(self._url, needed.challenge, self._settings, web)
        if used is not None and used.protection.server.issuer == found.server.issuer:
            scope = " ".join(dict.fromkeys([*_scopes(used.scope), *_scopes(found.scope)]))
            found = msgspec.structs.replace(found, scope=scope or None)
        sign_in = BegunSignIn(
            user=user,
            url=self._url,
            protection=found,
            settings=msgspec.structs.replace(self._settings, private_key=None, assertion=None),
            expires=time.time() + SIGN_IN_SECONDS,
            within=None if within is None else sorted(within),
        )
        ticket = await self._vault.begin(sign_in)
        return f"{self._settings.address.rstrip('/')}/mcp/sign-in/{ticket}"

    def forget_tools(self) -> None:
        """Fetch the tools again in all sessions."""
        for one in (self._shared, *self._own.values()):
            one.session.forget_tools()

    async def aclose(self) -> None:
        """End all sessions."""
        own, self._own = self._own, OrderedDict()
        for one in (self._shared, *own.values()):
            await one.session.aclose()
        await self._ending.wait_until_ended()

    @property
    def _is_own(self) -> bool:
        """Whether all people share the assistant's own token."""
        return self._settings is not None and self._settings.grant != "authorization_code"

    def _begin(self, user: str, token: ServerToken) -> PersonSession:
        """Return the session of a person, new if needed, with a token for its further requests."""
        found = self._own.get(user)
        if found is None:
            found = self._own[user] = self._make()
            if len(self._own) > MAX_SESSIONS:
                _, oldest = self._own.popitem(last=False)
                self._ending.start(oldest.session.aclose())
        found.use(token)
        return found

    async def _renew_token(self, user: str, token: ServerToken) -> ServerToken | None:
        """Return a token in place of an expired one; None if the server refuses to renew it."""
        try:
            made = await renew(token, OAuthWeb(self._find_networks()))
        except GrantDenied:
            # Another replica may have renewed it meanwhile: then that one's counts.
            kept = await self._vault.token(user, self._url) if self._vault else None
            if kept is not None and kept.access != token.access:
                return kept
            if self._vault is not None:
                await self._vault.drop(user, self._url)
            return None
        await self._keep(user, made)
        return made

    async def _keep(self, user: str, token: ServerToken) -> None:
        if self._vault is not None:
            await self._vault.keep(user, self._url, token)

    def _check_more(self, needed: TokenNeeded, used: ServerToken) -> None:
        """Raise the refusal again if the token already has the demanded scope."""
        if set(_scopes(needed.challenge.scope)) <= set(_scopes(used.scope)):
            raise needed

    def _find_networks(self) -> Collection[Network] | None:
        peer = self._shared.peer
        return peer.confine() if isinstance(peer, HttpPeer) else None


def _scopes(scope: str | None) -> list[str]:
    return (scope or "").split()
