"""Rewriter: the key of a file for a chat model that rewrites follow-ups."""

from __future__ import annotations

from typing import Annotated

import msgspec

from prolocutor.bounds import PositiveSeconds, about
from prolocutor.dialog.rounds import FOLLOW_UP
from prolocutor.plan.pipeline import Call, Pipeline, Stage
from prolocutor.plan.stages import Annotator


class Rewriter(msgspec.Struct, frozen=True, kw_only=True):
    """A chat model that rewrites follow-ups.

    If it fails or is late the rules count.
    """

    call: Annotated[str, about("The chat model.", what="the URL of a chat model")]
    connector: Annotated[
        str, about("The connector of the model.", what="the name of a connector")
    ] = "openai_chat"
    timeout: Annotated[
        PositiveSeconds, about("The longest time that a call of the model may take.")
    ] = 1.5

    def added_to(self, pipeline: Pipeline) -> Pipeline:
        """Return a pipeline in which the model is asked after the rules that write `follow_up`."""
        every = pipeline.services_at(Stage.ANNOTATOR)
        rules = [one.name for one in every if (one.label or one.name) == FOLLOW_UP]
        model = Annotator(
            Call(self.call, self.connector),
            name="rewriter",
            formatter="follow_up_formatter_in",
            response_formatter="follow_up_formatter_out",
            label=FOLLOW_UP,
            after=rules,
            timeout=self.timeout,
        )
        return msgspec.structs.replace(pipeline, annotators=[*every, model])
