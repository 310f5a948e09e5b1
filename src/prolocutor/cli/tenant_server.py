"""TenantServer: the assistants of a file with `tenants:`, each made on its own, in one server."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final

from msgspec.structs import replace

from prolocutor.cli.assistant_access import leave_note
from prolocutor.cli.owner import OwnerNote
from prolocutor.cli.served_assistant import served
from prolocutor.config.settings import AuthSettings, Settings
from prolocutor.config.store_location import made_data_folder, sqlite_url
from prolocutor.config.tenants_file import TenantEntry, TenantsSettings, shared_by
from prolocutor.errors import ConfigError
from prolocutor.tenancy import Tenant
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener
from prolocutor.web.served_tenant import ServedTenant
from prolocutor.web.tenant_dispatcher import PREFIX, TenantDispatcher
from prolocutor.web.tenant_overview import TenantOverview

FOLDER: Final = "tenants"
"""The folder of stores in the user's data folder, for tenants whose files name none."""


class TenantServer:
    """The tenants of one server. A tenant's file is read anew whenever the tenant is started."""

    def __init__(self, settings: TenantsSettings) -> None:
        self._settings = settings
        self._known: dict[str, Settings] = {}
        """What was read last of each tenant's file, without those that are wrong."""
        self._url: str | None = None
        self._key = secrets.token_urlsafe()
        self._tenants = [self._served(entry) for entry in settings.tenants]
        for entry in settings.tenants:
            try:
                self._read(entry)
            except ConfigError:  # its own start says what is wrong
                continue

    def app(self) -> TenantDispatcher:
        """Return the app of the server."""
        auth, limits = self._settings.auth, self._settings.limits
        policy = AccessPolicy(
            auth.keys,
            loopback=self._loopback(auth),
            trusted_proxies=self._settings.trusted_proxies,
        )
        overview = TenantOverview(self._tenants, policy, limits)
        return TenantDispatcher(self._tenants, overview, limits)

    def greeting(self, url: str) -> str:
        """Return where the tenants are reached, and tell the commands of this user."""
        self._url = url
        for one in self._tenants:
            if one.app is not None:
                self._leave_note(one.name, one.app)
        number = len(self._tenants)
        return "\n".join(
            (
                f"{number} tenant{'s' * (number > 1)} at {url} (Ctrl-C ends it):",
                *self._lines(url),
            )
        )

    def _lines(self, url: str) -> Iterator[str]:
        for one in self._tenants:
            where = f"{url}{PREFIX}{one.name}/, {', '.join(one.hosts)}"
            yield f"  {one.name}: {where if one.fault is None else f'not served: {one.fault}'}"

    def _served(self, entry: TenantEntry) -> ServedTenant:
        @asynccontextmanager
        async def make(lost: asyncio.Event) -> AsyncIterator[Listener]:
            settings = await asyncio.to_thread(self._read, entry)
            store = self._claim(entry.name, settings)
            auth = replace(settings.auth, loopback=self._loopback(settings.auth))
            async with served(
                replace(settings, auth=auth), store, self._key, on_lost=lambda _: lost.set()
            ) as app:
                if self._url is not None:
                    self._leave_note(entry.name, app)
                yield app

        hosts = (f"{entry.name}.localhost", *entry.hosts)
        return ServedTenant(Tenant(entry.name, entry.assistant.parent), hosts, make)

    def _read(self, entry: TenantEntry) -> Settings:
        try:
            settings = self._settings.settings_of(entry)
        except Exception:
            self._known.pop(entry.name, None)
            raise
        if settings.store is None:
            folder = made_data_folder() / FOLDER
            folder.mkdir(mode=0o700, exist_ok=True)
            settings = replace(settings, store=sqlite_url(folder / f"{entry.name}.db"))
        self._known[entry.name] = settings
        return settings

    def _claim(self, name: str, settings: Settings) -> str:
        """Return the tenant's store; raise `ConfigError` where another tenant has what is its own.

        Where two share something, the one that the file names first has it.
        """
        names = [one.name for one in self._tenants]
        earlier = {each: self._known[each] for each in names if each in self._known}
        for other, what in shared_by(earlier):
            if other == name:
                raise ConfigError(what, key=f"tenants.{name}", file=self._settings.file)
        assert settings.store is not None
        return settings.store

    def _loopback(self, auth: AuthSettings) -> bool | None:
        """Return whether callers on this machine are operators where the file does not say.

        They are not from when the server or any tenant has keys or tokens, or may have.
        """
        if auth.loopback is not None:
            return auth.loopback
        others = [self._settings.auth, *(one.auth for one in self._known.values())]
        unknown = len(self._known) < len(self._tenants)
        return False if unknown or any(one.is_closed for one in others) else None

    def _leave_note(self, name: str, app: Listener) -> None:
        """Leave a note in the tenant's store for the other commands of this user."""
        file = self._known[name].file if name in self._known else ""
        leave_note(
            app.assistant.store,
            OwnerNote("serve", file, f"{self._url}{PREFIX}{name}", self._key),
        )
