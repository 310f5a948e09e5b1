"""PushDelivery: posts the rows of persons' feeds to their webhooks.

The feed has everything said to a person, in order, so nothing is lost: a webhook notes up to which
row it has got all. It is sent the task after a reply, and unasked messages of its context as they
come. A webhook that fails is tried again a few times, and then the update is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import BackgroundTasks
from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.contracts.store import FeedRow
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import OPERATOR
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.errors import BadInput, ProlocutorError, ServiceError
from prolocutor.plugins.a2a.door.archive import TaskArchive
from prolocutor.plugins.a2a.door.outgoing import ask_parts, message_parts
from prolocutor.plugins.a2a.door.webhooks import StoredWebhook, TaskWebhooks
from prolocutor.plugins.a2a.wire import legacy
from prolocutor.plugins.a2a.wire.core import AGENT, A2aEvent, A2aMessage

log = logging.getLogger(__name__)

PAGE_ROWS: Final = 100
PAUSES: Final = (0.5, 2.0, 8.0)
"""Seconds before a post that failed is tried again; after the last it is dropped."""

POST_TIMEOUT: Final = 10.0
"""Seconds for one post."""

AT_ONCE: Final = 16
"""Posts that run at the same time, of all webhooks together."""


class PushDelivery:
    """Watches the feeds of persons with webhooks, in a background task for each person."""

    def __init__(self, assistant: Assistant, webhooks: TaskWebhooks, archive: TaskArchive) -> None:
        self._assistant = assistant
        self._webhooks = webhooks
        self._archive = archive
        self._watching: set[str] = set()
        self._tasks = BackgroundTasks("what tells webhooks")
        self._posts = asyncio.Semaphore(AT_ONCE)
        self._is_open = False

    async def open(self) -> None:
        """Watch the feeds of all persons with webhooks."""
        self._is_open = True
        self._webhooks.changed = self.watch
        for user in await self._webhooks.users():
            self.watch(user)

    def watch(self, user: str) -> None:
        """Watch the feed of a person, unless it is watched already."""
        if self._is_open and user not in self._watching:
            self._watching.add(user)
            task = self._tasks.start(self._watch(user))
            task.add_done_callback(lambda _: self._watching.discard(user))

    async def aclose(self) -> None:
        """Stop watching; undelivered events are posted after the next start."""
        self._is_open = False
        await self._tasks.aclose()

    async def _watch(self, user: str) -> None:
        with self._assistant.feeds.listening(user) as news:
            while True:
                news.clear()
                try:
                    webhooks = await self._webhooks.person_webhooks(user)
                    if not webhooks:
                        await self._webhooks.forget(user)
                        return
                    await asyncio.gather(*map(self._tell, webhooks))
                except ProlocutorError as error:
                    log.error("the feed of a person cannot be read: %s", error)
                    await asyncio.sleep(1.0)
                    continue
                await news.wait()

    # -- one webhook ------------------------------------------------------------------------

    async def _tell(self, webhook: StoredWebhook) -> None:
        """Post all new rows of the feed, and record the position."""
        store = self._assistant.store
        gathered: list[JsonObject] = []
        while rows := await store.feed(webhook.user, webhook.after, PAGE_ROWS):
            for row in rows:
                webhook.after = row.n
                if row.dialog_name == webhook.context:
                    await self._take(row, gathered, webhook)
            await self._note(webhook)

    async def _note(self, webhook: StoredWebhook) -> None:
        """Store the position of a webhook, unless it was removed meanwhile."""
        known = await self._webhooks.person_webhooks(webhook.user)
        if any(one.key == webhook.key and one.config == webhook.config for one in known):
            await self._webhooks.put(webhook)

    async def _take(self, row: FeedRow, gathered: list[JsonObject], webhook: StoredWebhook) -> None:
        message: JsonObject = {} if row.message is None else plain.decode(row.message)
        if message.get("type") == "command":
            gathered.clear()
            return
        if message:
            gathered.append(message)
        if row.closing is None:
            return
        said, gathered[:] = list(gathered), []
        replies = {one["utt_id"] for one in said if "utt_id" in one}
        if said and (not replies or await self._is_further(replies, webhook)):
            await self._post(webhook, A2aEvent(message=self._unasked_message(row, said, webhook)))
        else:
            await self._tell_task(webhook, replies)

    async def _is_further(self, replies: set[object], webhook: StoredWebhook) -> bool:
        """Return whether an operator's message answers no task."""
        stored = await self._assistant.store.turn(str(min(replies, key=str)))
        if not stored or getattr(stored[-1], "active_skill", None) != OPERATOR:
            return False
        tasks = await self._archive.find_tasks(webhook.user, webhook.context)
        return not any(task.reply is not None and task.reply.utt_id in replies for task in tasks)

    async def _tell_task(self, webhook: StoredWebhook, replies: set[object]) -> None:
        """Post the task of a reply, if the reply belongs to the webhook's task."""
        id_ = webhook.config.task_id
        tasks = await self._archive.find_tasks(webhook.user, webhook.context)
        named = next((one for one in tasks if one.id == id_), None)
        if named is None:
            return
        answered = named.reply is not None and named.reply.utt_id in replies
        if answered or named is tasks[-1]:
            task = await self._archive.task(webhook.user, webhook.context, id_)
            if task is not None:
                await self._post(webhook, A2aEvent(task=task))

    def _unasked_message(
        self, row: FeedRow, said: list[JsonObject], webhook: StoredWebhook
    ) -> A2aMessage:
        closing: JsonObject = {} if row.closing is None else plain.decode(row.closing)
        parts = message_parts(said)
        if closing.get("ask") is not None:
            parts += ask_parts(PendingAsk(ask=closing["ask"], skill=""))
        return A2aMessage(
            message_id=f"{webhook.context}-{row.n}",
            context_id=webhook.context,
            role=AGENT,
            parts=parts,
            metadata={"unasked": True, "taskId": webhook.config.task_id},
        )

    async def _post(self, webhook: StoredWebhook, event: A2aEvent) -> None:
        """Post an event, with several tries; drop it if all fail."""
        body = plain.encode(legacy.event_out(event) if webhook.legacy else event)
        why = await self._post_once(webhook, body)
        for pause in PAUSES:
            if why is None:
                return
            await asyncio.sleep(pause)
            why = await self._post_once(webhook, body)
        if why is None:
            return
        log.warning("a webhook of %s did not take an update: %s", webhook.user, why)

    async def _post_once(self, webhook: StoredWebhook, body: bytes) -> str | None:
        """Post once; return the error text, or None."""
        config = webhook.config
        try:
            within = self._webhooks.rules.networks(config.url, trusted=webhook.trusted)
        except BadInput as error:
            return str(error)
        client = HttpClient(config.url, max_connections=1, within=within)
        try:
            async with self._posts, asyncio.timeout(POST_TIMEOUT):
                await client.post(body, _headers(webhook), max_bytes=10_000)
        except (ServiceError, TimeoutError) as error:
            return str(error) or "it did not answer in time"
        finally:
            await client.aclose()
        return None


def _headers(webhook: StoredWebhook) -> Mapping[str, str]:
    config = webhook.config
    media = "application/json" if webhook.legacy else "application/a2a+json"
    headers: dict[str, Any] = {"Content-Type": media}
    if config.token:
        headers["X-A2A-Notification-Token"] = config.token
    secret = config.authentication
    if secret is not None and secret.scheme and secret.credentials:
        headers["Authorization"] = f"{secret.scheme} {secret.credentials}"
    return headers
