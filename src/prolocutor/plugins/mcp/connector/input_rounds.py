"""InputRound: the questions of a server of 2026-07-28 before it returns a result.

No call stays open: the server returns its state, and the call is sent again with that state and the
answers. Until the person has answered, the round is an attribute of the person. Source: the
specification of 2026-07-28, "Input required".
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.asks.answer_forms import gives_up
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadReply, ServiceRaised
from prolocutor.plugins.mcp.connector.elicited import CANCELLED, Form
from prolocutor.plugins.mcp.wire.tools import InputRequest, ToolResult

PREFIX: Final = "mcp_"


class InputRound(msgspec.Struct, omit_defaults=True):
    """The open questions, the answers so far, and the state for the repeated call."""

    arguments: JsonObject
    state: str | None = None
    requests: dict[str, InputRequest] = {}
    answers: dict[str, JsonObject] = {}
    asked: str = ""
    form: Form | None = None

    @classmethod
    def read_round(cls, result: ToolResult, arguments: JsonObject) -> InputRound:
        """Return the round for a server's questions."""
        return cls(arguments, result.request_state, result.input_requests or {})

    def question(self) -> JsonObject | None:
        """Return a hypothesis that asks the next question; None after the last."""
        while True:
            if self.form is None:
                left = [name for name in self.requests if name not in self.answers]
                if not left:
                    return None
                self.asked = left[0]
                self.form = _next_form(self.requests[self.asked])
            if question := self.form.question():
                return question
            self.answers = {**self.answers, self.asked: self.form.result()}
            self.form = None

    def take(self, answer: JsonObject) -> None:
        """Store the person's answer."""
        if gives_up(answer):
            self.answers = {**self.answers, self.asked: CANCELLED}
            self.form = None
        elif self.form is not None:
            self.form.take(answer)

    def further(self) -> JsonObject:
        """Return the additional parameters of the repeated call."""
        further: JsonObject = {"inputResponses": self.answers} if self.answers else {}
        return further if self.state is None else {**further, "requestState": self.state}


def find_round(value: Any, service: str) -> InputRound | None:
    """Return the round between a request's person and this service, or None."""
    try:
        kept = value["human"]["attributes"][PREFIX + service]
        return None if kept is None else msgspec.convert(kept, InputRound)
    except (KeyError, TypeError, msgspec.ValidationError):
        return None


def _next_form(request: InputRequest) -> Form:
    if request.method != "elicitation/create":
        raise ServiceRaised(f"the tool wants {request.method}, which is not offered here")
    try:
        return Form.read_form(request.params)
    except msgspec.ValidationError as error:
        raise BadReply(f"an elicitation that cannot be read: {error}") from None
