"""AsgiApp: an assistant with its doors as an ASGI app for any server, alone or mounted."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.doors.door_catalog import (
    DOORS,
    find_operators_data,
    find_operators_page,
    usual_doors,
)
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.observe.recent_turns import RecentTurns, ServiceTimes
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext, DoorOptions
from prolocutor.web.listener import Listener

AnyDoor = str | DoorOptions | Channel


class AsgiApp:
    """The app of an assistant below the path that it is mounted at.

    A server that sends lifespan messages opens and closes it, and the assistant with it where that
    has not been started. Others do not: it is opened at the first request, and closed with the
    assistant.
    """

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self._opening = asyncio.Lock()
        self._is_open = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, serve a WebSocket, or follow the server's lifespan."""
        if scope["type"] == "lifespan":
            self._is_open = True
            await self.listener(scope, receive, send)
            return
        if not self._is_open:
            await self._open_listener()
        mount = scope.get("root_path", "")
        if mount and scope["path"].startswith(f"{mount}/"):
            scope = {**scope, "path": scope["path"].removeprefix(mount)}
        await self.listener(scope, receive, send)

    async def _open_listener(self) -> None:
        async with self._opening:
            if not self._is_open:
                await self.listener.open()
                self.listener.assistant.life.before_end.append(self.listener.close)
                self._is_open = True


def asgi_app(
    assistant: Assistant,
    doors: Sequence[AnyDoor] | None = None,
    *,
    keys: Sequence[str] | Mapping[str, str] = (),
    tokens: Mapping[str, str] | None = None,
    anonymous: bool = False,
    origins: Collection[str] = (),
) -> AsgiApp:
    """Return the app of an assistant with these doors: names, options or channels.

    Without `doors` it has the usual doors. The other settings have the meaning of a file's `auth`
    and `origins`.
    """
    metrics, recent, times = TurnMetrics(), RecentTurns(), ServiceTimes()
    assistant.observers.add(metrics, recent, times)
    auth = AccessPolicy(keys, tokens or {}, anonymous)
    wanted = list(usual_doors().values()) if doors is None else [_load_door(door) for door in doors]
    context = DoorContext(
        assistant,
        recent=recent,
        times=times,
        secured=bool(keys or tokens),
        operators_page=find_operators_page(wanted),
        operators_data=find_operators_data(wanted),
    )
    channels = [one.build(context) if hasattr(one, "build") else one for one in wanted]
    listener = Listener(assistant, channels, auth=auth, origins=origins, metrics=metrics)
    return AsgiApp(listener)


def _load_door(door: AnyDoor) -> DoorOptions | Channel:
    return DOORS.load(door)() if isinstance(door, str) else door
