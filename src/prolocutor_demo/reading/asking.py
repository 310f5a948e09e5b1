"""Asking: what an agent lacks is asked for, and the answer completes the request.

An agent returns the `Question` with its reply. The assistant keeps it open (`ask`, `ask_context`),
also while other agents answer something else, and sends the answer back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from prolocutor_demo.reading.languages.heard import english_of
from prolocutor_demo.reading.languages.said import in_words_of
from prolocutor_demo.reading.utterance import ENGLISH, language_of, last_utterance, mended_words

Hypothesis = dict[str, Any]
Answer = Callable[[dict[str, Any]], list[Hypothesis]]

GIVEN_UP = "All right, never mind."
_ANSWERS = 0.6
"""Confidence from which on an agent has understood."""


class Question(NamedTuple):
    """What is asked for: `request`, in English, is complete with the answer in place of `{}`.

    `hint` says how to answer. `choices` are titles, each with the words that it stands for. The
    words of an answer are kept if `verbatim`, else they are read as English. `given_up` is said to
    "never mind".
    """

    text: str
    request: str
    hint: str = ""
    choices: Sequence[tuple[str, str]] = ()
    verbatim: bool = False
    given_up: str = GIVEN_UP


class Lack(NamedTuple):
    """What requests to an agent may lack: it is asked for in `text`, with the `hint`.

    `wants` fits the requests that lack it; `join` may stand between such a request and what it
    lacks. A request lacks it indeed if it is understood with one of the
    `samples`.
    """

    text: str
    hint: str
    wants: re.Pattern[str]
    samples: Sequence[str]
    join: str = ""


def lacking(
    answer: Answer, request: dict[str, Any], words: str, lacks: Sequence[Lack]
) -> list[Hypothesis]:
    """Return the question for what a request lacks, its words in English; [] where it is whole."""
    for lack in lacks:
        if not lack.wants.fullmatch(words):
            continue
        words = _SOMETHING.sub("", words)
        lead = f"{words} " if _OPEN_END.search(words) else f"{words} {lack.join}"
        for sample in lack.samples:
            if _sure_of(answer(with_words(request, lead + sample))) >= _KNOWN:
                question = Question(lack.text, f"{lead}{{}}", lack.hint)
                return [asking({"text": lack.text, "confidence": _KNOWN}, question)]
    return []


def _sure_of(replies: list[Hypothesis]) -> float:
    return float(replies[0].get("confidence", 0)) if replies else 0.0


def asking(hypothesis: Hypothesis, question: Question | None) -> Hypothesis:
    """Return a hypothesis that also asks."""
    if question is None:
        return hypothesis
    context = {**question._asdict(), "choices": [list(one) for one in question.choices]}
    return {**hypothesis, "ask": "choice" if question.choices else "command", _CONTEXT: context}


def open_question(request: dict[str, Any]) -> tuple[Question, dict[str, Any]] | None:
    """Return the question that a request answers, and the answer; None for any other request."""
    given = request.get("answer")
    context = given.get("context") if isinstance(given, dict) else None
    if not isinstance(context, dict) or not isinstance(given, dict):
        return None
    try:
        known = {key: context[key] for key in Question._fields}
        return Question(**known), given
    except KeyError:
        return None


def answered(
    answer: Answer, request: dict[str, Any], question: Question, given: dict[str, Any]
) -> list[Hypothesis]:
    """Return the hypotheses of an agent for an answer to its question.

    Words that do not answer it are taken as a request of their own, after which the question stands
    again; else they are declined.
    """
    if given.get("kind") == "cancelled":
        return [{"text": question.given_up, "confidence": 1.0}]
    if question.verbatim and _sure_of(alone := answer(request)) >= _SURELY:  # "show my list"
        return alone if _changes(alone) else _and_again(alone, question)
    code, mended = language_of(request), mended_words(request)
    wordings = list(_wordings(question, given, code))
    if mended and isinstance(given.get("value"), str) and not question.verbatim:  # "9 minuts"
        wordings += _wordings(question, {"value": mended}, code)
    for words in dict.fromkeys(wordings):
        whole = _complete(question.request, words)
        completed = answer(with_words(request, whole))
        if _understood(completed, question):
            return [_with_whole_question(completed[0], whole), *completed[1:]]
    alone = answer(request)
    return _and_again(alone, question) if _understood(alone, question) else []


def _and_again(replies: list[Hypothesis], question: Question) -> list[Hypothesis]:
    """Return the first reply with the question after it, unless it asks something itself."""
    first = replies[0]
    if first.get("ask"):
        return replies
    return [asking({**first, "text": f"{first['text']} {question.text}"}, question)]


def _changes(replies: list[Hypothesis]) -> bool:
    return "human_attributes" in replies[0]


def _with_whole_question(hypothesis: Hypothesis, whole: str) -> Hypothesis:
    """Return a hypothesis that tells the question that an answer completed, for follow-ups."""
    told = {
        **(hypothesis.get("attributes") or {}),
        "question": {"text": whole, "language": ENGLISH},
    }
    return {**hypothesis, "attributes": told}


def _complete(request: str, words: str) -> str:
    """Return a request with words in it, which may begin with the word before them: "to to"."""
    lead, _, tail = request.partition("{}")
    last = lead.rsplit(maxsplit=1)[-1] if lead.split() else ""
    repeated = words.lower().startswith(f"{last} ") if last else False
    return f"{lead}{words[len(last) :].lstrip() if repeated else words}{tail}"


def with_words(request: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a request whose last utterance has other words, in English."""
    last = last_utterance(request)
    annotations = {**(last.get("annotations") or {}), "language": {"code": "en"}}
    changed = {**last, "text": words, "annotations": annotations}
    said = {
        key: [*some[:-1], changed]
        for key in ("human_utterances", "utterances")
        if (some := request.get(key))
    }
    rest = {key: value for key, value in request.items() if key != "answer"}
    return rest | said


def with_question(hypothesis: Hypothesis, code: str) -> Hypothesis:
    """Return a hypothesis with its question, hint and choices in a language, as the assistant takes
    them."""
    context = hypothesis.get(_CONTEXT)
    if context is None:
        return hypothesis
    told = {**hypothesis, "ask_again": in_words_of(code, context["text"])}
    told["ask_hint"] = in_words_of(code, context["hint"])
    if choices := [{"type": "choice", "title": title} for title, _ in context["choices"]]:
        told["messages"] = [{"type": "text", "text": told["text"]}, *choices]
    return told


def _wordings(question: Question, given: dict[str, Any], code: str) -> Iterator[str]:
    """Return the words of an answer as they may complete the request, the likeliest first."""
    value = given.get("value")
    if isinstance(value, dict):
        place = value.get("idx")
        fits = isinstance(place, int) and 0 <= place < len(question.choices)
        if fits and isinstance(place, int):
            yield str(question.choices[place][1])
        return
    said = " ".join(str(value).split()).strip(" .!")
    if not said:
        return
    if code == ENGLISH or question.verbatim:
        yield said
    if not question.verbatim and (english := english_of(code, said)):
        yield english
    if code != ENGLISH and not question.verbatim:
        yield said


def _understood(replies: list[Hypothesis], question: Question) -> bool:
    if not replies or replies[0].get("confidence", 0) < _ANSWERS:
        return False
    context = replies[0].get(_CONTEXT)
    return context is None or not (
        context["text"] == question.text or context["request"] == question.request
    )


_CONTEXT = "ask_context"
_OPEN_END = re.compile(
    r"(?:^\w+|\b(?:in|at|of|for|to|into|until|till|since|from|word))$", re.IGNORECASE
)
"""The end of a request that takes what it lacks as it is."""
_SOMETHING = re.compile(r"(?<=\w) (?:something|this|that|it|a sum|a word|units?)$", re.IGNORECASE)
"""What stands for what a request lacks."""

_SURELY = 0.9
"""Confidence from which on words are a request of their own though any words answer."""

_KNOWN = 0.85
"""Confidence of a request that is whole."""
