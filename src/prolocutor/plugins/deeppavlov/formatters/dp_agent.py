"""The formatters of DeepPavlov Agent itself, by their names there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

State = dict[str, Any]
Function = TypeVar("Function", bound=Callable[..., Any])


def _own(formatter: Function) -> Function:
    """Mark a formatter that changes no state and makes JSON of JSON."""
    formatter.is_own = True  # type: ignore[attr-defined]
    return formatter


@_own
def last_text(state: State) -> State:
    """Ask about the last text, as `x`."""
    return {"x": [_last_text(state)]}


@_own
def chitchat(state: State) -> State:
    """Ask about the last text, as `q`."""
    return {"q": [_last_text(state)]}


@_own
def odqa(state: State) -> State:
    """Ask about the last text, as `question_raw`."""
    return {"question_raw": [_last_text(state)]}


@_own
def each_hypothesis(state: State) -> list[State]:
    """Ask about the text of each hypothesis."""
    return [{"x": [hypothesis["text"]]} for hypothesis in _last_hypotheses(state)]


@_own
def all_hypotheses(state: State) -> State:
    """Ask about all hypotheses."""
    return {"hypotheses": _last_hypotheses(state)}


@_own
def chitchat_example(state: State) -> State:
    """Ask about all texts, with their annotations."""
    texts = [utterance["text"] for utterance in state["utterances"]]
    annotations = [utterance["annotations"] for utterance in state["utterances"]]
    return {
        "utterances": texts,
        "annotations": annotations,
        "u_histories": [texts],
        "dialogs": state,
    }


@_own
def ner_reply(reply: Any) -> State:
    """Return tokens and tags by name."""
    if not isinstance(reply, list) or len(reply) != 2:
        raise ValueError("expected a list of two: tokens and tags")
    return {"tokens": reply[0], "tags": reply[1]}


@_own
def sentiment_reply(reply: Any) -> Any:
    """Return the reply as it is."""
    return reply


@_own
def chitchat_odqa_reply(reply: Any) -> list[str]:
    """Return the skill to ask."""
    kind = reply[0] if isinstance(reply, list) else reply
    return ["chitchat"] if kind in ("speech", "negative") else ["odqa"]


@_own
def confident_reply(reply: Any) -> list[State]:
    """Return a text with a confidence."""
    return [{"text": reply[0], "confidence": 0.5}]


@_own
def example_reply(reply: Any) -> list[State]:
    """Return a text with its confidence and a name."""
    text, confidence, name = reply
    return [{"text": text, "confidence": confidence, "name": name}]


def _last_text(state: State) -> str:
    return str(state["utterances"][-1]["text"])


def _last_hypotheses(state: State) -> list[State]:
    return list(state["human_utterances"][-1]["hypotheses"])
