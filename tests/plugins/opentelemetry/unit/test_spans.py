"""Spans of turns and services, for a provider made by hand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import context, trace
from opentelemetry.trace import NonRecordingSpan, NoOpTracerProvider, Span, SpanContext, Status
from opentelemetry.trace.status import StatusCode

from prolocutor import Assistant, Pipeline, Service
from prolocutor.plugins.opentelemetry.spans import TurnSpans
from tests.unit.observe.records import record, service

BEGAN = 1_700_000_000_500_000_000


class FakeSpan(NonRecordingSpan):
    def __init__(self, name: str, parent: Span, began: int, attributes: dict[str, Any]) -> None:
        super().__init__(SpanContext(1, id(self) % (1 << 64), is_remote=False))
        self.name, self.parent, self.began = name, parent, began
        self.shown, self.ended = attributes, 0
        self.linked: list[int] = []
        self.status = StatusCode.UNSET

    def set_status(self, status: Any, description: str | None = None) -> None:
        assert isinstance(status, Status)
        self.status = status.status_code

    def set_attributes(self, attributes: Any) -> None:
        self.shown = {**self.shown, **attributes}

    def end(self, end_time: int | None = None) -> None:
        assert end_time is not None
        self.ended = end_time


class FakeTracer(trace.Tracer):
    def __init__(self) -> None:
        self.spans: list[FakeSpan] = []

    def start_span(self, name: str, context: Any = None, *args: Any, **kwargs: Any) -> Span:
        parent = trace.get_current_span(context)
        self.spans.append(FakeSpan(name, parent, kwargs["start_time"], kwargs["attributes"]))
        self.spans[-1].linked = [link.context.span_id for link in kwargs.get("links") or ()]
        return self.spans[-1]

    @contextmanager
    def start_as_current_span(self, *args: Any, **kwargs: Any) -> Iterator[Span]:
        raise AssertionError("the turn is over")
        yield


class FakeProvider(trace.TracerProvider):
    def __init__(self) -> None:
        self.tracer = FakeTracer()

    def get_tracer(self, *args: Any, **kwargs: Any) -> trace.Tracer:
        return self.tracer


def test_a_turn_is_a_span_over_those_of_its_services() -> None:
    provider = FakeProvider()
    late = service("b", started=0.2, ended=0.4, outcome="late", error="no answer in time")
    skipped = service("c", started=None, ended=None, outcome="skipped")

    TurnSpans(provider).turn_ended(record(service("a", started=0.0, ended=0.25), late, skipped))

    turn, a, b = provider.tracer.spans
    assert [span.name for span in (turn, a, b)] == [
        "invoke_workflow prolocutor",
        "invoke_agent a",
        "invoke_agent b",
    ]
    assert [span.parent for span in (a, b)] == [turn, turn]
    assert turn.began == BEGAN
    assert turn.ended == BEGAN + 500_000_000
    assert a.began == BEGAN
    assert a.ended == BEGAN + 250_000_000
    assert b.began == BEGAN + 200_000_000
    assert b.ended == BEGAN + 400_000_000
    assert [span.status for span in (turn, a, b)] == [
        StatusCode.UNSET,
        StatusCode.UNSET,
        StatusCode.ERROR,
    ]
    assert turn.shown["prolocutor.dialog_id"] == "1" * 32


def test_a_turn_is_nobodys_child() -> None:
    provider = FakeProvider()
    outer = FakeSpan("outer", trace.INVALID_SPAN, 0, {})
    token = context.attach(trace.set_span_in_context(outer))
    try:
        TurnSpans(provider).turn_ended(record())
    finally:
        context.detach(token)

    assert provider.tracer.spans[0].parent is trace.INVALID_SPAN


def test_a_turn_that_nobody_could_answer_is_an_error() -> None:
    provider = FakeProvider()

    TurnSpans(provider).turn_ended(record(by="fallback"))

    assert provider.tracer.spans[0].status is StatusCode.ERROR


USED = {"skill_name": "a", "text": "x", "usage": {"input_tokens": 7, "output_tokens": 2}}


def test_spans_have_the_names_of_the_conventions_for_generative_ai() -> None:
    provider = FakeProvider()

    TurnSpans(provider).turn_ended(record(service("a"), hypotheses=[USED, USED]))

    turn, agent = [
        {key: value for key, value in span.shown.items() if key.startswith("gen_ai.")}
        for span in provider.tracer.spans
    ]
    used = {"gen_ai.usage.input_tokens": 14, "gen_ai.usage.output_tokens": 4}
    talk = {"gen_ai.conversation.id": "1" * 32, "gen_ai.provider.name": "prolocutor"}
    workflow = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "prolocutor"}
    assert turn == {**workflow, **talk}  # receivers add up what agents used
    assert agent == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "a",
        **talk,
        **used,
    }


def test_words_are_said_where_that_is_wanted() -> None:
    provider = FakeProvider()
    said = {"skill_name": "a", "text": "Fine."}

    spans = TurnSpans(provider, words=True)
    spans.turn_ended(record(service("a"), text="hi", response="Fine!", hypotheses=[said]))

    turn, agent = [
        json.loads(span.shown["gen_ai.output.messages"]) for span in provider.tracer.spans
    ]
    assert turn[0]["parts"][0]["content"] == "Fine!"
    assert agent[0]["parts"][0]["content"] == "Fine."


async def test_what_a_skill_does_is_part_of_its_span() -> None:
    provider = FakeProvider()
    seen: list[Span] = []

    def looks(request: Any) -> dict[str, Any]:
        seen.append(trace.get_current_span())
        return {"text": "Hello.", "confidence": 1.0}

    skills = [Service("a", looks), Service("b", looks)]
    spans = TurnSpans(provider)
    async with Assistant(
        Pipeline(skills=skills), store="memory:", name="kit", observers=[spans]
    ) as assistant:
        await assistant.reply("hi", user="ann")

    turn, a, b = provider.tracer.spans
    assert seen == [a, b]
    assert [a.parent, b.parent] == [turn, turn]
    assert all(one.ended for one in (turn, a, b))
    assert [turn.name, a.shown["gen_ai.provider.name"]] == ["invoke_workflow kit", "python"]


async def test_turns_are_followed_from_the_time_on_when_there_is_a_provider() -> None:
    spans = TurnSpans(NoOpTracerProvider())
    async with Assistant(
        Pipeline(skills=[Service("a", lambda _: [])]), store="memory:", observers=[spans]
    ) as assistant:
        followers = assistant.observers.followers

    assert followers == []


def test_nothing_is_said_of_what_people_say() -> None:
    provider = FakeProvider()

    TurnSpans(provider).turn_ended(record(service(), text="my secret", response="your secret"))

    assert "secret" not in str([span.shown for span in provider.tracer.spans])


def test_without_a_provider_nothing_is_made() -> None:
    TurnSpans().turn_ended(record(service()))
    TurnSpans(NoOpTracerProvider()).turn_ended(record(service()))


def test_a_second_run_is_in_the_trace_of_the_first_and_linked_to_it() -> None:
    provider = FakeProvider()
    first = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    TurnSpans(provider).turn_ended(record(attempt=2, traceparent=first))
    TurnSpans(provider).turn_ended(record(attempt=2, traceparent="nonsense"))

    (second, other) = provider.tracer.spans
    assert second.parent.get_span_context().span_id == 0xB7AD6B7169203331
    assert second.linked == [0xB7AD6B7169203331]
    assert other.linked == []
