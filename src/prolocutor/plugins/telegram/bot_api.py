"""BotApi: calls of Telegram's Bot API, and the parts of its answers that the door reads.

Source: https://core.telegram.org/bots/api. The token is part of every address, so no error of the
HTTP client is shown or chained: its text may hold the address.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.url import http_url
from prolocutor.errors import BadReply, ServiceUnreachable

log = logging.getLogger(__name__)

T = TypeVar("T")

ANSWER_TIMEOUT: Final = 20.0
"""Seconds for an answer, beyond the seconds of a long poll."""
MAX_ANSWER: Final = 20_000_000
LONGEST_PAUSE: Final = 30.0
"""Seconds between two tries of a call, at most."""

_NO_TOKEN: Final = frozenset({401, 404})
"""Statuses for an unknown token and for a malformed token."""
_PASSING: Final = 409
"""The status if another process polls with this token, or a webhook is set."""


class BotRefusal(Exception):
    """The Bot API refuses a call; calling again would not help."""


class BotTokenRefused(BotRefusal):
    """The Bot API does not know the token."""


class TelegramUser(msgspec.Struct, frozen=True):
    """The sender of a message."""

    id: int
    is_bot: bool = False


class TelegramChat(msgspec.Struct, frozen=True):
    """A chat; a private chat has the id of its user."""

    id: int


class TelegramLocation(msgspec.Struct, frozen=True):
    """A place, in degrees."""

    latitude: float
    longitude: float


class TelegramContact(msgspec.Struct, frozen=True):
    """A shared phone number."""

    phone_number: str


class TelegramMessage(msgspec.Struct, frozen=True):
    """A message; channels have messages without a sender."""

    chat: TelegramChat
    sender: TelegramUser | None = msgspec.field(default=None, name="from")
    text: str | None = None
    caption: str | None = None
    location: TelegramLocation | None = None
    contact: TelegramContact | None = None


class ButtonPress(msgspec.Struct, frozen=True):
    """A `CallbackQuery`: a button below a message is pressed."""

    id: str
    sender: TelegramUser = msgspec.field(name="from")
    message: TelegramMessage | None = None
    data: str = ""


class BotUpdate(msgspec.Struct, frozen=True):
    """An `Update` of the kinds requested by the door."""

    update_id: int
    message: TelegramMessage | None = None
    callback_query: ButtonPress | None = None


class _Parameters(msgspec.Struct):
    retry_after: float | None = None


class _BotAnswer(msgspec.Struct):
    ok: bool
    result: msgspec.Raw = msgspec.Raw(b"null")
    error_code: int = 0
    description: str = ""
    parameters: _Parameters = msgspec.field(default_factory=_Parameters)


class BotApi:
    """Calls methods of a bot. `first_pause` is in seconds; pauses double up to 30 s."""

    def __init__(self, token: str, api: str) -> None:
        self._token = token
        address = http_url(api)
        self._path = f"{address.path.rstrip('/')}/bot{token}/"
        self._http = HttpClient(address, headers={"Content-Type": "application/json"})
        self.first_pause = 1.0

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def updates(self, offset: int | None, timeout: int) -> list[msgspec.Raw]:
        """Wait up to `timeout` seconds for updates; updates before `offset` are confirmed."""
        asked: dict[str, Any] = {
            "timeout": timeout,
            "allowed_updates": ["message", "callback_query"],
        }
        if offset is not None:
            asked["offset"] = offset
        return await self.call("getUpdates", asked, list[msgspec.Raw], ANSWER_TIMEOUT + timeout)

    async def call(
        self, method: str, asked: dict[str, Any], kind: type[T], patience: float = ANSWER_TIMEOUT
    ) -> T:
        """Return the result of a method; retry passing failures.

        Raise `BotTokenRefused` or `BotRefusal`, with the fault but without the token.
        """
        pause = self.first_pause
        while True:
            wait: float | None = None
            try:
                status, answer = await self._answer(method, asked, patience)
                if answer.ok:
                    return msgspec.json.decode(answer.result, type=kind)
                wait = answer.parameters.retry_after
                problem = self._problem(status, answer)
            except (ServiceUnreachable, TimeoutError) as error:
                problem = type(error).__name__
            except (BadReply, msgspec.MsgspecError, RecursionError):
                problem = "the answer is not of the Bot API"
            log.warning("Telegram: %s fails: %s; it is tried again", method, problem)
            await asyncio.sleep(wait if wait is not None and wait > 0 else pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _answer(
        self, method: str, asked: dict[str, Any], patience: float
    ) -> tuple[int, _BotAnswer]:
        body = msgspec.json.encode(asked)
        async with asyncio.timeout(patience):
            reply = await self._http.exchange(
                body, {}, max_bytes=MAX_ANSWER, target=self._path + method
            )
        if reply.status >= 500:
            return reply.status, _BotAnswer(False, description="an error of the server")
        return reply.status, msgspec.json.decode(reply.body, type=_BotAnswer)

    def _problem(self, status: int, answer: _BotAnswer) -> str:
        """Return the text of a passing problem; raise `BotRefusal` for a lasting problem."""
        code = answer.error_code or status
        what = f"{code} {answer.description}".replace(self._token, "***")
        if code < 500 and code not in {429, _PASSING}:
            _refuse(code, what)
        return what


def _refuse(code: int, what: str) -> NoReturn:
    raise (BotTokenRefused if code in _NO_TOKEN else BotRefusal)(what)
