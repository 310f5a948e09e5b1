"""What stands around every call: breaker, places in flight, retries."""

import asyncio
import logging
import math
from collections.abc import Sequence
from typing import Any

import pytest

from prolocutor.dialog import plain
from prolocutor.dialog.plain import Plain
from prolocutor.errors import (
    BadReply,
    BreakerOpen,
    NoPlace,
    NotFound,
    ServiceError,
    ServiceLate,
    ServiceRaised,
    ServiceRefused,
    ServiceUnreachable,
)
from prolocutor.pipeline.guard import CircuitBreaker, Guard
from prolocutor.plan import pipeline
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeRequest
from tests.unit.pipeline.talk import (
    FALLBACK,
    Gate,
    Stubborn,
    Talk,
    asked,
    errors,
    hypothesis,
    outcomes,
    says,
    settle_down,
    skill,
)


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeConnector:
    """Gives its replies one after the other, the last one for ever; an event is waited for."""

    def __init__(self, *replies: Any) -> None:
        self.sent = 0
        self._replies = replies or ("fine",)

    async def send(self, requests: Sequence[Any]) -> Sequence[Plain | ServiceError]:
        self.sent += 1
        reply = self._replies[min(self.sent, len(self._replies)) - 1]
        if isinstance(reply, asyncio.Event):
            await reply.wait()
            reply = "fine"
        if isinstance(reply, BaseException):
            raise reply
        return [plain.check(reply)] * len(requests)

    async def aclose(self) -> None:
        pass


def breaker(**rule: Any) -> tuple[CircuitBreaker, Clock, list[str]]:
    states: list[str] = []
    clock = Clock()
    rule = {"failures": 3, "window": 10.0, "cooldown": 5.0, **rule}
    made = CircuitBreaker(
        "it", pipeline.Breaker(**rule), lambda _, state: states.append(state), clock
    )
    return made, clock, states


def guard(connector: FakeConnector, **options: Any) -> Guard:
    service = Service("it", connector, **options)
    return Guard(service, connector, lambda service, state: None)


# -- the breaker ------------------------------------------------------------------------------


def test_a_breaker_opens_after_so_many_failures() -> None:
    it, _, states = breaker()
    for _ in range(2):
        it.record_failure()
    it.pass_through()
    it.record_failure()
    with pytest.raises(BreakerOpen):
        it.pass_through()
    assert states == ["open"]


def test_failures_that_lie_too_far_apart_open_nothing() -> None:
    it, clock, states = breaker()
    for _ in range(10):
        it.record_failure()
        clock.now += 6
    assert states == []


def test_a_success_makes_failures_forgotten() -> None:
    it, _, states = breaker()
    for _ in range(5):
        it.record_failure()
        it.record_failure()
        it.record_success()
    assert states == []


def test_after_the_cool_down_one_call_may_try() -> None:
    it, clock, states = breaker(failures=1)
    it.record_failure()
    clock.now += 5
    it.pass_through()
    with pytest.raises(BreakerOpen):
        it.pass_through()
    assert states == ["open", "half-open"]


def test_a_trial_that_succeeds_closes_the_breaker() -> None:
    it, clock, states = breaker(failures=1)
    it.record_failure()
    clock.now += 5
    it.pass_through()
    it.record_success()
    it.pass_through()
    assert states == ["open", "half-open", "closed"]


def test_a_trial_that_fails_opens_the_breaker_for_another_cool_down() -> None:
    it, clock, _ = breaker(failures=3)
    for _ in range(3):
        it.record_failure()
    clock.now += 5
    it.pass_through()
    it.record_failure()
    clock.now += 4.9
    with pytest.raises(BreakerOpen):
        it.pass_through()
    clock.now += 0.2
    it.pass_through()


def test_a_trial_that_showed_nothing_lets_another_one_try() -> None:
    it, clock, _ = breaker(failures=1)
    it.record_failure()
    clock.now += 5
    it.pass_through()
    it.record_undecided()
    it.pass_through()


def test_a_breaker_that_was_tripped_closes_by_one_success_after_the_cool_down() -> None:
    it, clock, states = breaker()
    it.trip()
    with pytest.raises(BreakerOpen):
        it.pass_through()
    clock.now += 5
    it.pass_through()
    assert it.failures
    it.record_success()
    assert states == ["open", "half-open", "closed"]


# -- the breaker around calls -----------------------------------------------------------------

ONCE = pipeline.Breaker(failures=1, window=60, cooldown=0)
FOR_LONG = pipeline.Breaker(failures=2, window=60, cooldown=60)


async def test_a_service_that_keeps_failing_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    broken = says("broken", ValueError("no"), breaker=FOR_LONG)
    talk = Talk(Pipeline(skills=[broken, skill()]))
    with caplog.at_level(logging.WARNING, "prolocutor"):
        for _ in range(4):
            turn = await talk.turn()
    assert len(asked(broken)) == 2
    assert errors(turn) == {"broken": "left alone after 2 failures"}
    assert [record.getMessage() for record in caplog.records] == [
        "breaker of service broken is now open"
    ]


@pytest.mark.parametrize("reply", [None, 5, [{}], float("nan")])
async def test_bad_replies_count_as_failures(reply: Any) -> None:
    broken = says("broken", reply, breaker=FOR_LONG)
    talk = Talk(Pipeline(skills=[broken]))
    for _ in range(4):
        assert await talk.say() == FALLBACK
    assert len(asked(broken)) == 2


async def test_time_outs_count_as_failures() -> None:
    gate = Gate()
    late = Service("late", gate, timeout=0.01, breaker=FOR_LONG)
    talk = Talk(Pipeline(skills=[late]))
    for _ in range(4):
        await talk.turn()
    assert gate.calls == 2


async def test_a_service_that_came_back_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    chat = says("chat", ValueError("no"), hypothesis(), breaker=ONCE)
    changes: list[tuple[str, str]] = []
    talk = Talk(Pipeline(skills=[chat]), breaker_changed=lambda *change: changes.append(change))
    said = [await talk.say() for _ in range(3)]
    assert said == [FALLBACK, "hello", "hello"]
    assert changes == [("chat", "open"), ("chat", "half-open"), ("chat", "closed")]
    assert len(caplog.records) == 3


async def test_a_trial_that_is_dropped_does_not_leave_the_service_alone_for_ever() -> None:
    gate = Gate(hypothesis("back"))
    eager = Service("eager", gate, after=[], breaker=ONCE, timeout=60.0)
    selector = says("selector", ["other"], ["eager"])
    talk = Talk(Pipeline(skill_selector=selector, skills=[eager, skill("other")]))
    guard = talk.engine.prepared.skill_steps["eager"].guard
    guard.breaker.trip()
    await talk.turn()
    assert gate.calls == 1
    assert guard.breaker.state == "open"
    gate.opened.set()
    assert await talk.say() == "back"
    assert guard.breaker.state == "closed"


async def test_a_trial_whose_caller_went_away_does_not_leave_the_service_alone_for_ever() -> None:
    gate = Gate("fine")
    chat = Service("chat", gate, breaker=ONCE)
    talk = Talk(Pipeline(skills=[chat]))
    talk.engine.prepared.skill_steps["chat"].guard.breaker.trip()
    trial = asyncio.create_task(talk.engine.call("chat", {}, timeout=60))
    await settle_down()
    trial.cancel()
    await settle_down()
    gate.opened.set()
    assert await talk.engine.call("chat", {}, timeout=60) == "fine"


async def test_a_trial_that_found_no_place_does_not_leave_the_service_alone_for_ever() -> None:
    it = guard(FakeConnector(NoPlace("all threads are held"), "fine"), breaker=ONCE)
    it.breaker.trip()
    with pytest.raises(NoPlace) as refused:
        await it.call(FakeRequest())
    it.note(refused.value)
    assert isinstance(await it.call(FakeRequest()), Plain)


# -- places -----------------------------------------------------------------------------------


async def test_only_so_many_calls_run_at_once() -> None:
    release = asyncio.Event()
    connector = FakeConnector(release)
    it = guard(connector, max_in_flight=2)
    callers = [asyncio.create_task(it.call(FakeRequest())) for _ in range(4)]
    await settle_down()
    assert connector.sent == 2
    assert it.in_flight == 2
    release.set()
    await asyncio.gather(*callers)
    assert connector.sent == 4
    assert it.in_flight == 0


async def test_as_many_may_wait_for_a_place_and_no_more() -> None:
    release = asyncio.Event()
    it = guard(FakeConnector(release), max_in_flight=1)
    callers = [asyncio.create_task(it.call(FakeRequest())) for _ in range(2)]
    await settle_down()
    with pytest.raises(NoPlace):
        await it.call(FakeRequest())
    release.set()
    await asyncio.gather(*callers)


async def test_who_stopped_waiting_takes_no_place() -> None:
    release = asyncio.Event()
    it = guard(FakeConnector(release), max_in_flight=1)
    running, gone = (asyncio.create_task(it.call(FakeRequest())) for _ in range(2))
    await settle_down()
    gone.cancel()
    await settle_down()
    waiting = asyncio.create_task(it.call(FakeRequest()))
    await settle_down()
    release.set()
    await asyncio.gather(running, waiting)
    assert it.in_flight == 0


async def test_a_place_that_was_given_to_one_who_went_away_goes_to_the_next() -> None:
    release = asyncio.Event()
    it = guard(FakeConnector(release, asyncio.Event(), "fine"), max_in_flight=2)
    running, stuck = (asyncio.create_task(it.call(FakeRequest())) for _ in range(2))
    await settle_down()
    gone, waiting = (asyncio.create_task(it.call(FakeRequest())) for _ in range(2))
    await settle_down()
    release.set()
    running.add_done_callback(lambda _: gone.cancel())
    await asyncio.gather(running, waiting)
    await settle_down()
    assert it.in_flight == 1
    stuck.cancel()


async def test_a_stray_keeps_its_place_until_it_ends() -> None:
    with Stubborn() as stubborn:
        odd = Service("odd", stubborn, timeout=0.01, max_in_flight=1)
        talk = Talk(Pipeline(skills=[odd, skill()]))
        guard = talk.engine.prepared.skill_steps["odd"].guard
        said = [await talk.say() for _ in range(3)]
        await settle_down()
        left = (len(talk.engine.prepared.strays), guard.in_flight)
    await settle_down()
    assert said == ["hello"] * 3
    assert left == (1, 1)
    assert len(talk.engine.prepared.strays) == 0
    assert guard.in_flight == 0


# -- retries ----------------------------------------------------------------------------------


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Keep how long retries wait, without waiting."""
    kept: list[float] = []

    async def nap(seconds: float) -> None:
        kept.append(seconds)

    monkeypatch.setattr("prolocutor.pipeline.guard.asyncio.sleep", nap)
    return kept


@pytest.mark.parametrize("error", [BadReply("odd"), ServiceRefused("no such page", status=404)])
async def test_a_permanent_failure_is_not_tried_again(
    naps: list[float], error: ServiceError
) -> None:
    connector = FakeConnector(error, "fine")
    assert await guard(connector, retries=2).call(FakeRequest()) is error
    assert connector.sent == 1
    assert naps == []


@pytest.mark.parametrize(
    "error",
    [ServiceUnreachable("gone"), ServiceRefused("busy", status=503), ServiceRaised("no")],
)
async def test_a_failed_call_is_tried_again_where_retries_are_set(
    naps: list[float], error: ServiceError
) -> None:
    connector = FakeConnector(error, error, "fine")
    reply = await guard(connector, retries=2).call(FakeRequest())
    assert isinstance(reply, Plain)
    assert connector.sent == 3


async def test_each_retry_waits_about_twice_as_long_as_the_one_before(naps: list[float]) -> None:
    connector = FakeConnector(ServiceUnreachable("gone"))
    reply = await guard(connector, retries=3).call(FakeRequest())
    assert isinstance(reply, ServiceUnreachable)
    assert [0.05 * 2**n <= nap <= 0.15 * 2**n for n, nap in enumerate(naps)] == [True] * 3


async def test_without_retries_a_failed_call_is_not_tried_again() -> None:
    connector = FakeConnector(ServiceUnreachable("gone"), "fine")
    with pytest.raises(ServiceUnreachable):
        await guard(connector).call(FakeRequest())
    assert connector.sent == 1


async def test_retries_end_when_the_breaker_opens(naps: list[float]) -> None:
    connector = FakeConnector(ServiceUnreachable("gone"))
    await guard(connector, retries=9, breaker=FOR_LONG).call(FakeRequest())
    assert connector.sent == 2


async def test_retries_end_with_the_time_out() -> None:
    patient = pipeline.Breaker(failures=1000)
    chat = says("odd", ValueError("no"), retries=1000, timeout=0.1, breaker=patient)
    turn = await Talk(Pipeline(skills=[chat, skill()])).turn()
    assert outcomes(turn)["odd"] == "late"


# -- whoever else must call a skill -----------------------------------------------------------


async def test_a_guarded_caller_gives_the_checked_reply() -> None:
    chat = says("chat", lambda request: [request["text"]])
    engine = Talk(Pipeline(skills=[chat])).engine
    assert await engine.call("chat", {"text": "hi"}, timeout=1) == ["hi"]


@pytest.mark.parametrize(
    ("target", "error"),
    [
        (says("chat", ValueError("no")), ServiceRaised),
        (says("chat", float("nan")), BadReply),
        (Service("chat", Gate()), ServiceLate),
        (Service("chat", FakeConnector(SystemExit(3))), ServiceRaised),
    ],
)
async def test_a_guarded_caller_raises_the_services_error(
    target: Any, error: type[Exception]
) -> None:
    engine = Talk(Pipeline(skills=[target])).engine
    with pytest.raises(error):
        await engine.call("chat", {}, timeout=0.01)


async def test_a_guarded_caller_minds_the_breaker() -> None:
    chat = says("chat", ValueError("no"), breaker=FOR_LONG)
    engine = Talk(Pipeline(skills=[chat])).engine
    for error in (ServiceRaised, ServiceRaised, BreakerOpen):
        with pytest.raises(error):
            await engine.call("chat", {}, timeout=1)


async def test_a_guarded_caller_knows_no_other_services() -> None:
    with pytest.raises(NotFound):
        await Talk(Pipeline(skills=[skill()])).engine.call("nobody", {}, timeout=1)


async def test_of_services_with_one_name_a_guarded_caller_asks_the_skill_unless_it_is_told() -> (
    None
):
    annotator, chat = says("clock", "annotated"), says("clock", "said")
    engine = Talk(Pipeline(annotators=[annotator], skills=[chat])).engine
    assert await engine.call("clock", {}, timeout=1) == "said"
    assert await engine.call("clock", {}, timeout=1, stage="annotators") == "annotated"
    with pytest.raises(NotFound):
        await engine.call("clock", {}, timeout=1, stage="postprocessors")


async def test_a_guarded_caller_sends_only_json() -> None:
    with pytest.raises(BadReply):
        await Talk(Pipeline(skills=[skill()])).engine.call("chat", {"x": object()}, timeout=1)


# -- connectors of one's own ------------------------------------------------------------------


class Odd:
    """A connector that keeps no promise."""

    def __init__(self, answer: Any) -> None:
        self.answer_given = answer

    async def send(self, requests: Any) -> Any:
        return self.answer_given() if callable(self.answer_given) else self.answer_given

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    "answer",
    [None, [], [1, 2], ["bare"], [None], 5, "text", [ValueError()], lambda: [Plain(1, "1")]],
)
@pytest.mark.parametrize("batch_size", [1, 4])
async def test_a_connector_that_keeps_no_promise_breaks_no_turn(
    answer: Any, batch_size: int
) -> None:
    odd = Service("odd", Odd(answer), batch_size=batch_size)
    with pytest.raises(ServiceError):
        await Talk(Pipeline(skills=[odd])).engine.call("odd", {}, timeout=1)
    turn = await Talk(Pipeline(skills=[odd, skill()]), deadline=1.0).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["odd"] == "failed"


@pytest.mark.parametrize("stage", ["annotators", "candidate_annotators", "response_annotators"])
@pytest.mark.parametrize(("value", "outcome"), [({"a": 1}, "done"), (math.nan, "failed")])
async def test_bytes_that_a_foreign_connector_made_are_not_stored(
    stage: str, value: Any, outcome: str
) -> None:
    odd = Service("odd", Odd([Plain(value, b"no JSON")]))
    talk = Talk(Pipeline(skills=[skill()], **{stage: [odd]}))
    turn = await talk.turn()

    assert outcomes(turn)["odd"] == outcome
    assert [utterance["text"] for utterance in (await talk.state())["utterances"]] == [
        "hi",
        "hello",
    ]
