"""CallPurse: the keeper that admits calls as long as their costs stay within limits.

The price of a call is taken out of all its limits before the call, in one step of the store that
all replicas share; the actual cost is settled after the call. So a limit holds to within the price
of the running calls, however many processes make them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant_settings import PurseSettings
from prolocutor.assistant.rounds.answer_context import language_of_request
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.calls import running_effect
from prolocutor.contracts.connector import Connector, Replies, Request, ServiceContext
from prolocutor.contracts.shared_store import store_clock
from prolocutor.contracts.store import Amount, Store, TurnOpening
from prolocutor.dialog.ids import format_time
from prolocutor.dialog.plain import OwnReply, Plain
from prolocutor.errors import ConfigError, PurseEmpty, ServiceError, StoreError
from prolocutor.names import suggest
from prolocutor.pipeline.requests import PayloadRequest
from prolocutor.plan.pipeline import Pipeline, Skill, Stage, StageService
from prolocutor.reading.locales.locale import sentence

log = logging.getLogger(__name__)

WARNING_SHARE: Final = 0.8
"""The part of a limit from which on operators are warned."""

ASKED: Final = "purse"
"""The kind of the documents of requests that wait for a yes, and the member of an ask's context."""

CLEANUP_INTERVAL: Final = 3600.0
"""Seconds between two deletions of old sums."""

_ROUNDING: Final = 1e-9
MAX_COST: Final = 1e9
"""The most that an agent may say a call cost; whatever is more is taken for no amount."""


class Spent(msgspec.Struct, frozen=True):
    """A sum of costs: its kind, its owner and its period, and its limit.

    `words` is the name of the sentence for a reached limit.
    """

    kind: str
    words: str
    user: str
    name: str
    period: str
    limit: float | None


class CallPurse:
    """Keeps the costs of calls within limits."""

    def __init__(self, store: Store, settings: PurseSettings, pipeline: Pipeline) -> None:
        self.settings = settings
        self.clock: Callable[[], float] = store_clock(store)
        self.store = store
        self.connectors: dict[str, PaidConnector] = {}
        self.warned: set[tuple[str, str, str, str]] = set()
        self._tasks = BackgroundTasks("purse")
        names = [service.name for service in pipeline.services_at(Stage.SKILL)]
        for one, other in settings.instead.items():
            for name in (one, other):
                if name not in names:
                    what = f"no skill is called {name!r}; {suggest(name, names)}"
                    raise ConfigError(what, key=f"purse.instead.{one}")

    # -- as a keeper ------------------------------------------------------------------------------

    def around(self, service: Any, connector: Connector, context: ServiceContext) -> Connector:
        """Return the connector of a skill, or of a service with a price, wrapped by the purse."""
        price = _call_price(service)
        if not price and not isinstance(service, Skill):
            return connector
        kept = PaidConnector(service, connector, self, price)
        if isinstance(service, Skill):
            self.connectors[service.name] = kept
        return kept

    def join(self, assistant: Any) -> None:
        """Keep the assistant."""
        assistant.purse = self

    async def turn_was_cut_off(self, opening: TurnOpening) -> None:
        """Do nothing: the calls of the turn may have cost their price."""

    async def turn_ends(self, opening: TurnOpening, spoken: Collection[str]) -> None:
        """Do nothing: a call costs the same whether its answer is spoken or not."""

    async def start(self) -> None:
        """Begin to delete the sums of old turns."""
        self._tasks.start(self._tidy())

    async def aclose(self) -> None:
        """Stop deleting the sums of old turns."""
        await self._tasks.aclose()

    async def _tidy(self) -> None:
        while True:
            try:
                yesterday = _day(self.clock() - 86_400)
                await self.store.delete_amounts("turn", yesterday)
                self.warned = {one for one in self.warned if one[3] >= yesterday[:7]}
            except StoreError as error:
                log.warning("old sums of costs cannot be deleted: %s", error)
            await asyncio.sleep(CLEANUP_INTERVAL)

    # -- the money --------------------------------------------------------------------------------

    async def take(
        self, agent: str, user: str, turn: str, amount: float, calls: int, *, over: bool = False
    ) -> Spent | None:
        """Take an amount out of all limits, or nothing; return the limit that forbids it.

        `over`: ignore the limits.
        """
        limits = self._limits(agent, user, turn)
        added = [
            Amount(
                limit.kind,
                limit.user,
                limit.name,
                limit.period,
                amount,
                calls,
                None if over or limit.limit is None else limit.limit + _ROUNDING,
            )
            for limit in limits
        ]
        amounts = await self.store.add_amounts(added)
        if isinstance(amounts, int):
            return limits[amounts]
        for one, total in zip(limits, amounts, strict=True):
            self._warn(one, total)
        return None

    def _limits(self, agent: str, user: str, turn: str) -> list[Spent]:
        """Return the sums that an amount is added to, the most contended sums last."""
        now, limits = self.clock(), self.settings
        day, month = _day(now), _day(now)[:7]
        found = [
            Spent("spent", "", user, agent, day, None),
            Spent("turn", "purse_spent_turn", user, turn, day, limits.turn),
            Spent("person", "purse_spent_day", user, "", day, limits.person_day),
            Spent("person", "purse_spent_month", user, "", month, limits.person_month),
            Spent("agent", "purse_spent_agent", "", agent, day, limits.agent_day),
            Spent("total", "purse_spent_total", "", "", day, limits.total_day),
        ]
        return [one for one in found if one.kind == "spent" or one.limit is not None]

    def _warn(self, spent: Spent, total: float) -> None:
        key = (spent.kind, spent.user, spent.name, spent.period)
        if spent.limit is None or total < WARNING_SHARE * spent.limit or key in self.warned:
            return
        self.warned.add(key)
        log.warning(
            "%s of %g are spent: %.4g (%s %s %s)",
            f"{total / spent.limit:.0%}" if spent.limit else "all",
            spent.limit, total, spent.kind, spent.name or spent.user, spent.period,
        )  # fmt: skip

    def amount_text(self, amount: float) -> str:
        """Return an amount as a text to show."""
        return f"{amount:.6g} {self.settings.currency}".strip()


class PaidConnector:
    """The way to a service whose calls have a cost."""

    def __init__(
        self, service: StageService, kept: Connector, purse: CallPurse, price: float
    ) -> None:
        self.kept = kept
        self.service = service
        self.price = price
        self.purse = purse
        self.format = getattr(kept, "format", "plain")
        self.gathers_batches = getattr(kept, "gathers_batches", False)
        for name in ("describe", "preview"):
            if hasattr(kept, name):
                setattr(self, name, getattr(kept, name))

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Take the price, call the service, and settle the actual cost."""
        first = requests[0]
        user = _request_user(first)
        if (again := await self._take_agreement(first, user)) is not None:
            return again
        price = self.price * len(requests)
        refused = await self.purse.take(
            self.service.name, user, first.turn_id, price, len(requests)
        )
        if refused is not None:
            return await self._refuse(requests, refused, user)
        return await self._pay(requests, user, price)

    async def aclose(self) -> None:
        """Close the connector of the service."""
        await self.kept.aclose()

    async def _pay(self, requests: Sequence[Request], user: str, price: float) -> Replies:
        try:
            replies = await self.kept.send(requests)
        except ServiceError as error:
            if not error.sent:
                await self._settle(requests[0], user, -price, -len(requests))
            raise
        costs = [_call_cost(reply, self.price) for reply in replies]
        difference = sum(costs) - price
        if abs(difference) > _ROUNDING:
            await self._settle(requests[0], user, difference, 0)
        return replies

    async def _settle(self, request: Request, user: str, amount: float, calls: int) -> None:
        turn, name = request.turn_id, self.service.name
        await self.purse.take(name, user, turn, amount, calls, over=True)

    async def _refuse(self, requests: Sequence[Request], limit: Spent, user: str) -> Replies:
        """Act on a reached limit as the settings say."""
        settings, purse = self.purse.settings, self.purse
        name, parts = self.service.name, {"limit": purse.amount_text(limit.limit or 0.0)}
        what = sentence(limit.words, **parts, agent=name).rstrip(".")
        log.info("service %s was not asked: %s", name, what)
        is_skill = isinstance(self.service, Skill) and len(requests) == 1
        if running_effect.get() is not None or not is_skill:
            raise PurseEmpty(what)
        request = requests[0]
        state = getattr(request, "state", None)
        other = purse.connectors.get(settings.instead.get(self.service.name, ""))
        if settings.at_limit == "cheaper" and other is not None and other is not self:
            return await other.send((request,))
        language = None if state is None else language_of_request(state)
        spent = sentence(limit.words, language, **parts, agent=name)
        if settings.at_limit == "ask" and state is not None:
            place = state.snapshot.dialog_id
            await purse.store.put_record(user, ASKED, request.key, request.body(), place)
            price = purse.amount_text(self.price)
            hypothesis = {
                "text": sentence("purse_asks", language, spent=spent, price=price),
                "confidence": 0.9,
                "ask": "yesno",
                "ask_context": {ASKED: request.key},
            }
            return (OwnReply.from_hypothesis(hypothesis),)
        text = sentence("purse_declines", language, spent=spent, agent=name)
        return (OwnReply.from_hypothesis({"text": text, "confidence": 0.1}),)

    async def _take_agreement(self, request: Request, user: str) -> Replies | None:
        """Make a held call beyond a limit if the person agrees; None for any other request."""
        state = getattr(request, "state", None)
        if state is None:
            return None
        answer = state.member("answer")
        context = answer.get("context") if isinstance(answer, dict) else None
        key = context.get(ASKED) if isinstance(context, dict) else None
        if not isinstance(key, str) or not isinstance(answer, dict):
            return None
        body = await self.purse.store.record(user, ASKED, key)
        if body is None or answer.get("value") is not True:
            await self.purse.store.delete_record(user, ASKED, key)
            left = sentence("purse_left", language_of_request(state))
            return (OwnReply.from_hypothesis({"text": left, "confidence": 1.0}),)
        await self.purse.store.delete_record(user, ASKED, key)
        plain = Plain(None, body)
        held = PayloadRequest(request.service, request.turn_id, key, request.timeout, plain)
        await self.purse.take(self.service.name, user, request.turn_id, self.price, 1, over=True)
        return await self._pay((held,), user, self.price)


def _call_price(service: StageService) -> float:
    price = service.card_members.get("price")
    return float(price) if isinstance(price, int | float) else 0.0


def _request_user(request: Request) -> str:
    user = getattr(request, "user", None)
    if isinstance(user, str):
        return user
    state = getattr(request, "state", None)
    return "" if state is None else str(state.snapshot.opening.user)


def _call_cost(reply: Plain | ServiceError, price: float) -> float:
    """Return the cost of a call: the sum of `cost` in its hypotheses, up to `MAX_COST` each, else
    the price.
    """
    if isinstance(reply, ServiceError):
        return price if reply.sent else 0.0
    value = reply.value
    said = [
        float(one["cost"])
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, dict) and _is_cost(one.get("cost"))
    ]
    return sum(said) if said else price


def _is_cost(said: Any) -> bool:
    return isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said <= MAX_COST


def _day(at: float) -> str:
    """Return the day of a time (UTC), as YYYY-MM-DD."""
    return format_time(at)[:10]
