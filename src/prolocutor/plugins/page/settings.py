"""A person's settings of the chat page, kept with the person and deleted with them."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from zoneinfo import available_timezones

import msgspec
from msgspec import Meta

from prolocutor.contracts.channel import Route
from prolocutor.contracts.store import RecordStore
from prolocutor.errors import BadInput
from prolocutor.plugins.page.conversations import PageUser, find_user
from prolocutor.web.operations import Operation, TypedRequest

KIND: Final = "page-settings"
_NAME: Final = "all"


class PageSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's choices; null stands for the browser's setting."""

    language: Annotated[
        Annotated[str, Meta(max_length=35, pattern="^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")] | None,
        Meta(
            description="Of dates, times and speech, as in `pt-BR`.",
            extra={"error": "language is a tag such as en or pt-BR"},
        ),
    ] = None
    time_zone: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="A name of the IANA database, as `Europe/Oslo`."),
    ] = None
    theme: Literal["light", "dark"] | None = None
    enter_sends: bool = True
    twelve_hours: Annotated[
        bool, Meta(description="Whether times are written as `4:41 PM`, else as `16:41`.")
    ] = False


class SettingsEndpoints:
    """Reads and keeps a person's own settings."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self.routes = [
            Route("GET", "/api/settings", Operation(self.settings)),
            Route("PUT", "/api/settings", Operation(self.keep_settings, status=204)),
        ]

    async def settings(self, request: TypedRequest[PageUser, None]) -> PageSettings:
        """Return one's own settings."""
        user = find_user(request.visitor, request.params)
        kept = (await self._records.records(user, KIND)).get(_NAME)
        return PageSettings() if kept is None else msgspec.json.decode(kept, type=PageSettings)

    async def keep_settings(self, request: TypedRequest[PageUser, PageSettings]) -> None:
        """Keep one's own settings, in place of earlier settings."""
        zone = request.body.time_zone
        if zone is not None and zone not in available_timezones():
            raise BadInput(f"there is no time zone {zone!r}", field="time_zone")
        user = find_user(request.visitor, request.params)
        await self._records.put_record(user, KIND, _NAME, msgspec.json.encode(request.body))
