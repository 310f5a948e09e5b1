"""TaskWebhooks: the addresses that get the updates of tasks, kept in the store's records.

A webhook is a record of its person, deleted with them. A record of the assistant names the persons
with webhooks, so that the server finds them after a restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.plugins.a2a.door.places import A2aPlace
from prolocutor.plugins.a2a.door.push_rules import PushRules
from prolocutor.plugins.a2a.wire.core import A2aPushConfig
from prolocutor.plugins.a2a.wire.faults import INVALID_PARAMS, PUSH_NOT_SUPPORTED, A2aFault

KIND: Final = "a2a_webhook"
USERS: Final = "a2a_webhook_users"
MAX_WEBHOOKS: Final = 100
"""The most webhooks of one person."""


class StoredWebhook(msgspec.Struct, omit_defaults=True):
    """A stored webhook.

    `after` is the last row of the person's feed that was delivered; `trusted`: an operator set it.
    """

    config: A2aPushConfig
    user: str
    context: str
    after: int = 0
    legacy: bool = False
    trusted: bool = False

    @property
    def key(self) -> str:
        """The key of the record."""
        return f"{self.config.task_id}/{self.config.id}"


_read: Final = msgspec.json.Decoder(StoredWebhook).decode


class TaskWebhooks:
    """Adds, lists and removes webhooks; calls `changed` with the person after each change."""

    def __init__(self, assistant: Assistant, rules: PushRules) -> None:
        self._store = assistant.store
        self.rules = rules
        self.changed = _nothing

    async def check(self, config: A2aPushConfig, *, trusted: bool) -> None:
        """Raise `A2aFault` for a webhook at a refused address."""
        if not self.rules.enabled:
            raise A2aFault(PUSH_NOT_SUPPORTED, "push notifications are switched off here")
        if not config.url:
            raise A2aFault(INVALID_PARAMS, "url is needed", field="url")
        why = await self.rules.refusal(config.url, trusted=trusted)
        if why is not None:
            raise A2aFault(
                INVALID_PARAMS, f"a webhook is not allowed at this address: {why}", field="url"
            )
        secret = config.authentication
        values = [config.token, *((secret.scheme, secret.credentials) if secret else ())]
        if any(not value.isprintable() or len(value) > 4096 for value in values):
            raise A2aFault(INVALID_PARAMS, "a token is one printable line", field="token")

    async def add(
        self, place: A2aPlace, config: A2aPushConfig, *, legacy: bool, trusted: bool
    ) -> A2aPushConfig:
        """Add a webhook of a task, or replace the webhook with its id."""
        await self.check(config, trusted=trusted)
        if len(config.id) > 200:
            raise A2aFault(INVALID_PARAMS, "an id has at most 200 characters", field="id")
        named = msgspec.structs.replace(config, id=config.id or new_id(), tenant="")
        stored = StoredWebhook(
            named,
            place.user,
            place.context,
            await self._store.feed_end(place.user),
            legacy,
            trusted,
        )
        known = await self._store.records(place.user, KIND)
        if stored.key not in known and len(known) >= MAX_WEBHOOKS:
            raise A2aFault(
                INVALID_PARAMS, f"a person has at most {MAX_WEBHOOKS} webhooks", field="url"
            )
        await self.put(stored)
        if not known:
            await self._store.put_record("", USERS, place.user, b"{}")
        self.changed(place.user)
        return named

    async def put(self, webhook: StoredWebhook) -> None:
        """Write a webhook."""
        await self._store.put_record(webhook.user, KIND, webhook.key, plain.encode(webhook))

    async def task_webhooks(self, user: str, task_id: str) -> list[A2aPushConfig]:
        """Return the webhooks of a task."""
        found = await self.person_webhooks(user)
        return [one.config for one in found if one.config.task_id == task_id]

    async def remove(self, user: str, task_id: str, id_: str) -> bool:
        """Remove a webhook; return False if there is none."""
        removed = await self._store.delete_record(user, KIND, f"{task_id}/{id_}")
        if removed and not await self._store.records(user, KIND):
            await self._store.delete_record("", USERS, user)
        self.changed(user)
        return removed

    async def person_webhooks(self, user: str) -> Sequence[StoredWebhook]:
        """Return all webhooks of a person."""
        found = []
        for body in (await self._store.records(user, KIND)).values():
            try:
                found.append(_read(body))
            except msgspec.DecodeError:
                continue
        return found

    async def users(self) -> list[str]:
        """Return the persons who have webhooks."""
        return list(await self._store.records("", USERS))

    async def forget(self, user: str) -> None:
        """Remove a deleted person from the list of persons with webhooks."""
        await self._store.delete_record("", USERS, user)


def _nothing(user: str) -> None:
    """Ignore a change."""
