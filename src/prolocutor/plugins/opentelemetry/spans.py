"""Spans: turns and their services as OpenTelemetry traces, by its conventions for generative AI.

A turn is `invoke_workflow`, a skill `invoke_agent`. Their spans are open while they run, so that
the spans of an agent behind a connector are part of them. Source: the semantic conventions of
OpenTelemetry, "Generative AI", 1.40.
"""

from __future__ import annotations

import os
from time import monotonic, time_ns
from typing import Any, Final

import msgspec
from opentelemetry import context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    NoOpTracer,
    NoOpTracerProvider,
    ProxyTracerProvider,
    Span,
    SpanKind,
    Tracer,
    TracerProvider,
    get_current_span,
    get_tracer_provider,
    set_span_in_context,
)
from opentelemetry.trace.status import Status, StatusCode

from prolocutor.contracts.observer import (
    ObservedAssistant,
    Outcome,
    ServiceRecord,
    TurnBegun,
    TurnRecord,
)
from prolocutor.observe.trace_context import read_span_context

WORDS: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The environment variable that, if true, puts the texts of utterances into spans."""

_NAME: Final = "prolocutor"
_SKILL: Final = "skills"
_HERE: Final = frozenset({"python", "process"})
"""Connectors to what runs on this machine."""

_LOOK_AFTER: Final = 1.0
"""Seconds between two looks for the provider of the process: each one reads the environment."""

_MOST_OPEN: Final = 10_000
"""Turns whose spans are open; one that ends without a record, as in a crash, leaves its own."""


class TurnSpans:
    """An observer that makes a span of each turn and of each service in it, with their true times.

    A turn that was cut off and ran again is in the trace of its first run, and linked to it. The
    observer does nothing until the application has set a tracer provider, or passes a provider
    here. It looks for the application's provider once a second; then it follows turns. With `words`
    (by default as the environment's `WORDS` says) spans contain the words of people and agents.
    """

    def __init__(
        self, provider: TracerProvider | None = None, *, words: bool | None = None
    ) -> None:
        self._provider = provider
        told = os.environ.get(WORDS, "").lower() not in ("", "0", "false", "no")
        self._words = told if words is None else words
        self._tracer: Tracer | None = None
        self._look_at = 0.0
        self._place: ObservedAssistant | None = None
        self._open: dict[str, OpenTurn] = {}

    def joined(self, assistant: ObservedAssistant) -> None:
        """Follow the turns of an assistant, from now on if there is a provider already."""
        self._place = assistant
        self._find_tracer()

    def begin(self, begun: TurnBegun) -> None:
        """Open the span of a turn; it is the current span while the turn runs."""
        if (tracer := self._tracer) is None:
            return
        if len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        around = get_current_span()
        first = around.get_span_context()
        is_again = first.is_valid and first.is_remote and not around.is_recording()
        parent = context.get_current()
        span = self._start_turn(tracer, parent, time_ns(), [_link(first)] if is_again else [])
        turn = self._open[begun.turn_id] = OpenTurn(span, set_span_in_context(span, parent))
        context.attach(turn.context)

    def ask(self, turn_id: str, service: str, stage: str) -> None:
        """Open the span of a service; it is the current span of the service's calls."""
        turn = self._open.get(turn_id)
        if turn is None or self._tracer is None:
            return
        span = self._start_service(self._tracer, turn.context, service, stage, time_ns())
        turn.services[stage, service] = span
        context.attach(set_span_in_context(span, turn.context))

    def leave(self, turn_id: str) -> None:
        """Leave the span of a service; the record of the turn has its outcome."""
        if (turn := self._open.get(turn_id)) is not None:
            context.attach(turn.context)

    def turn_ended(self, record: TurnRecord) -> None:
        """Record the outcomes of a turn and its services, and end their spans."""
        tracer = self._find_tracer()
        if tracer is None:
            return
        began = round(record.started * 1e9)
        turn = self._open.pop(record.turn_id, None) or self._late(tracer, record, began)
        usages = _usages(record)
        for service in record.services:
            if service.started is not None and service.ended is not None:
                span = turn.services.get((service.stage, service.name))
                if span is None:
                    at = began + round(service.started * 1e9)
                    span = self._start_service(
                        tracer, turn.context, service.name, service.stage, at
                    )
                self._end_service(span, service, record, usages.get(service.name))
                span.end(began + round(service.ended * 1e9))
        self._end_turn(turn.span, record)
        turn.span.end(began + round(record.seconds * 1e9))

    def _find_tracer(self) -> Tracer | None:
        if self._tracer is None and monotonic() >= self._look_at:
            self._look_at = monotonic() + _LOOK_AFTER
            provider = self._provider or get_tracer_provider()
            if isinstance(provider, ProxyTracerProvider | NoOpTracerProvider):
                return None
            tracer = provider.get_tracer(_NAME)
            if isinstance(tracer, NoOpTracer):
                return None
            self._tracer = tracer
            if self._place is not None:
                self._place.follow(_Followed(self))
        return self._tracer

    def _late(self, tracer: Tracer, record: TurnRecord, began: int) -> OpenTurn:
        """Return the spans of a turn that was not followed, outside of the current span."""
        first = None if record.traceparent is None else read_span_context(record.traceparent)
        parent = context.Context()
        if first is not None:
            parent = set_span_in_context(NonRecordingSpan(first), parent)
        links = [] if first is None else [_link(first)]
        span = self._start_turn(tracer, parent, began, links)
        return OpenTurn(span, set_span_in_context(span, context.Context()))

    def _start_turn(
        self, tracer: Tracer, parent: context.Context, at: int, links: list[Link]
    ) -> Span:
        name = _NAME if self._place is None else self._place.name
        return tracer.start_span(
            f"invoke_workflow {name}",
            parent,
            SpanKind.INTERNAL,
            links=links,
            start_time=at,
            attributes={
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.workflow.name": name,
                "gen_ai.provider.name": _NAME,
            },
        )

    def _start_service(
        self, tracer: Tracer, parent: context.Context, name: str, stage: str, at: int
    ) -> Span:
        connectors = {} if self._place is None else self._place.connectors
        connector = connectors.get((stage, name))
        attributes: dict[str, Any] = {"prolocutor.service": name, "prolocutor.stage": stage}
        shown = f"{stage} {name}"
        if stage == _SKILL:
            shown = f"invoke_agent {name}"
            attributes |= {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": name,
                "gen_ai.provider.name": (connector or _NAME).partition("_")[0],  # openai_chat
            }
        kind = SpanKind.INTERNAL if connector in _HERE else SpanKind.CLIENT
        return tracer.start_span(shown, parent, kind, start_time=at, attributes=attributes)

    def _end_service(
        self, span: Span, service_record: ServiceRecord, record: TurnRecord, usage: _Usage | None
    ) -> None:
        attributes: dict[str, Any] = {
            "prolocutor.outcome": service_record.outcome,
            "prolocutor.calls": service_record.calls,
        }
        if service_record.stage == _SKILL:
            attributes["gen_ai.conversation.id"] = record.dialog_id
            if usage is not None:
                attributes |= usage.attributes()
            if self._words:
                texts = [text for skill, text in _texts(record) if skill == service_record.name]
                attributes |= _messages(record.text, texts)
        if service_record.failed:
            attributes["error.type"] = service_record.code or service_record.outcome
            span.set_status(
                Status(StatusCode.ERROR, service_record.error or service_record.outcome)
            )
        span.set_attributes(attributes)

    def _end_turn(self, span: Span, record: TurnRecord) -> None:
        attributes: dict[str, Any] = {
            "gen_ai.conversation.id": record.dialog_id,
            "prolocutor.turn_id": record.turn_id,
            "prolocutor.dialog_id": record.dialog_id,
            "prolocutor.channel": record.channel,
            "prolocutor.by": record.by,
            "prolocutor.active_skill": record.active_skill,
            "prolocutor.attempt": record.attempt,
        }
        if self._words:
            attributes |= _messages(record.text, [record.response])
        if record.by == "fallback":
            attributes["error.type"] = "no_answer"
            span.set_status(Status(StatusCode.ERROR, "no service had an answer"))
        span.set_attributes(attributes)


class _Followed:
    """Passes the events of turns on to `TurnSpans`, as long as it is registered."""

    def __init__(self, spans: TurnSpans) -> None:
        self._spans = spans

    def turn_begun(self, begun: TurnBegun) -> None:
        self._spans.begin(begun)

    def service_asked(self, turn_id: str, service: str, stage: str) -> None:
        self._spans.ask(turn_id, service, stage)

    def service_settled(
        self, turn_id: str, service: str, stage: str, outcome: Outcome, seconds: float
    ) -> None:
        self._spans.leave(turn_id)

    def dialog_waits(self, dialog_id: str) -> None:
        """Do nothing: a wanted person belongs to no service."""


class OpenTurn(msgspec.Struct):
    """The span of a turn, the context of its services' spans, and these spans."""

    span: Span
    context: context.Context
    services: dict[tuple[str, str], Span] = {}


class _Usage(msgspec.Struct, frozen=True):
    """Tokens that a model read and wrote."""

    read: int
    written: int

    def attributes(self) -> dict[str, int]:
        """Return the tokens by the names of the conventions."""
        return {"gen_ai.usage.input_tokens": self.read, "gen_ai.usage.output_tokens": self.written}


def _usages(record: TurnRecord) -> dict[str, _Usage]:
    """Return the tokens of each skill that reports its usage."""
    found: dict[str, _Usage] = {}
    for hypothesis in record.hypotheses:
        usage, skill = hypothesis.get("usage"), hypothesis.get("skill_name")
        if not isinstance(usage, dict) or not isinstance(skill, str):
            continue
        read, written = usage.get("input_tokens"), usage.get("output_tokens")
        if isinstance(read, int) and isinstance(written, int):
            before = found.get(skill, _Usage(0, 0))
            found[skill] = _Usage(before.read + read, before.written + written)
    return found


def _texts(record: TurnRecord) -> list[tuple[object, str]]:
    return [
        (hypothesis.get("skill_name"), str(hypothesis.get("text", "")))
        for hypothesis in record.hypotheses
    ]


def _messages(text: str, said: list[str]) -> dict[str, str]:
    """Return words in the form of the conventions: JSON of messages with parts."""
    asked = [{"role": "user", "parts": [{"type": "text", "content": text}]}]
    answered = [
        {"role": "assistant", "parts": [{"type": "text", "content": one}], "finish_reason": "stop"}
        for one in said
    ]
    return {
        "gen_ai.input.messages": msgspec.json.encode(asked).decode(),
        "gen_ai.output.messages": msgspec.json.encode(answered).decode(),
    }


def _link(first: Any) -> Link:
    return Link(first, {"prolocutor.run": "first"})
