"""The small talk agent: greetings and the like, and scripted sub-dialogs that it resumes."""

import re
from typing import Any, NamedTuple

from prolocutor_demo.reading.request import attributes_of, text_of
from prolocutor_demo.small_talk.scripts import Script, read_words
from prolocutor_demo.small_talk.small_talk_state import SmallTalkState

NAME = "small_talk"
DECLINE = "I only chat; others here know more about that."

_WORDS = read_words()


class _SmallTalkReply(NamedTuple):
    text: str
    confidence: float
    can_continue: bool = False


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Reply to small talk; open, continue and resume scripts; decline all else."""
    state = SmallTalkState(attributes_of(request).get(NAME), _WORDS.scripts)
    said = text_of(request)
    waiting = _spoke_last(request) and state.asked
    reply = _reply(_plain(said), said, state, waiting)
    if reply is None:
        return [{"text": DECLINE, "confidence": 0.05}]
    state.turns += 1
    return [
        {
            "text": reply.text,
            "confidence": reply.confidence,
            "can_continue": reply.can_continue,
            "human_attributes": {NAME: state.to_json()},
        }
    ]


def _reply(plain: str, said: str, state: SmallTalkState, waiting: bool) -> _SmallTalkReply | None:
    if not plain or len(plain) > 400:
        return None
    state.asked = False
    for script in _WORDS.scripts:
        loose = waiting and plain.startswith(("i ", "just ", "saw ", "watched "))
        if script.asked_for.fullmatch(plain) or (not loose and script.opens.fullmatch(plain)):
            return _open(script, state)
    if state.script and _RESUME.fullmatch(plain):
        return _resume(state)
    if waiting and _STOP.fullmatch(plain):
        state.script = None
        return _SmallTalkReply("All right, some other time.", 0.8)
    asks = said.endswith("?") and _ASKS.match(plain) is not None
    if waiting and not asks and not _is_aside(plain, state) and (reply := _continue(said, state)):
        return reply
    reply = _aside(plain, said, state)
    return _back_to(reply, state) if reply and waiting and not _LEAVING.match(plain) else reply


def _is_aside(plain: str, state: SmallTalkState) -> bool:
    """Return whether the text addresses the assistant rather than answers its question."""
    script = state.script
    names = script is not None and script.steps[state.steps[script.name] - 1].key == "name"
    if _ASKS_US.match(plain):
        return True
    return _ABOUT_US.match(plain) is not None and not (names and _WORDS.named.fullmatch(plain))


def _aside(plain: str, said: str, state: SmallTalkState) -> _SmallTalkReply | None:
    """Return the reply to a text outside the scripts."""
    if found := _WORDS.named.fullmatch(plain):
        return _named(found["name"], said, state)
    if _WORDS.whose_name.fullmatch(plain):
        name = state.said.get("acquaintance.name")
        return _SmallTalkReply(
            f"You are {name}." if name else "You have not told me your name yet.", 0.9
        )
    if _WORDS.bored.fullmatch(plain):
        return _resume(state)
    if found := _I_AM.fullmatch(said):
        return _named(found["name"].lower(), said, state)._replace(confidence=0.8)
    return _passing(plain, state) or _in_parts(said, state) or _hinted(plain, state)


def _in_parts(said: str, state: SmallTalkState) -> _SmallTalkReply | None:
    """Return the replies to two or three remarks in one text: "thanks, bye"."""
    parts = [part for one in _PARTS.split(said) if (part := _plain(one))]
    if not 1 < len(parts) <= 3:
        return None
    replies = [_passing(part, state) for part in parts]
    texts = dict.fromkeys(reply.text for reply in replies if reply)
    return _SmallTalkReply(" ".join(texts), 0.85) if all(replies) else None


def _hinted(plain: str, state: SmallTalkState) -> _SmallTalkReply | None:
    """Return the reply to keywords that identify the kind of small talk."""
    if len(plain.split()) > 9 or _ELSEWHERE.search(plain):
        return None
    for hint in _WORDS.hints:
        if hint.said.search(plain):
            return _SmallTalkReply(hint.reply[state.turns % len(hint.reply)], hint.confidence)
    return _about_me(plain)


def _about_me(plain: str) -> _SmallTalkReply | None:
    """Return an evasive reply to an unforeseen question about the assistant."""
    if len(plain.split()) > 7 or not _TO_ME.fullmatch(plain):
        return None
    return _SmallTalkReply("That is a good question; I have not found out yet.", 0.55)


def _passing(plain: str, state: SmallTalkState) -> _SmallTalkReply | None:
    """Return the reply to a greeting, thanks and the like, also after a greeting."""
    greeted = _GREETING.sub("", plain, count=1)
    for words in dict.fromkeys((plain, greeted, _LIKE_US.sub("you", greeted, count=1))):
        for passing in _WORDS.replies:
            if words and passing.said.fullmatch(words):
                text = passing.reply[state.turns % len(passing.reply)]
                return _SmallTalkReply(text + _reminder(plain, state), passing.confidence)
    return None


def _reminder(plain: str, state: SmallTalkState) -> str:
    """Return a note on an unfinished script, to follow a greeting."""
    if state.script is None or not _GREETING.match(f"{plain} "):
        return ""
    return f' We were talking of {_topic(state.script)}: say "go on" if you like.'


def _named(name: str, said: str, state: SmallTalkState) -> _SmallTalkReply:
    start = said.lower().rfind(name)
    name = (said[start : start + len(name)] if start >= 0 else name).strip(" .,!?-'")
    state.said["acquaintance.name"] = name
    state.steps["acquaintance"] = max(1, state.steps["acquaintance"])
    return _SmallTalkReply(f"Nice to meet you, {name}. I shall remember that.", 0.92)


def _open(script: Script, state: SmallTalkState) -> _SmallTalkReply:
    """Begin a script, resume it, or say that it is over."""
    if state.over(script):
        text = state.filled(script.over, script)
        return _SmallTalkReply(text or f"We have talked of {_topic(script)} already.", 0.86)
    state.script = script
    return _resume(state)


def _resume(state: SmallTalkState) -> _SmallTalkReply:
    """Continue the current script, else the first unfinished one."""
    unfinished = [script for script in _WORDS.scripts if not state.over(script)]
    script = state.script if state.script in unfinished else next(iter(unfinished), None)
    if script is None:
        return _SmallTalkReply("We have talked of all that I know. Shall we toss a coin?", 0.8)
    state.script = script
    if not state.steps[script.name] or state.answered(script):
        return _say_next(script, state, 0.88)
    state.asked = True
    question = _question_of(script, state)
    return _SmallTalkReply(f"We were talking of {_topic(script)}. {question}", 0.88, True)


def _back_to(reply: _SmallTalkReply, state: SmallTalkState) -> _SmallTalkReply:
    """Return a reply with the open question of the script added."""
    if reply.can_continue or state.script is None or state.over(state.script):
        return reply
    state.asked = True
    question = _question_of(state.script, state)
    return _SmallTalkReply(f"{reply.text} But tell me: {question}", reply.confidence, True)


def _continue(said: str, state: SmallTalkState) -> _SmallTalkReply | None:
    """Take free text as the answer to the current step, and return the next step."""
    script = state.script
    if script is None or state.over(script) or not state.steps[script.name]:
        return None
    state.remember(said, script)
    sure = 0.55 if len(said.split()) > 12 or _QUESTION.search(said) else 0.62
    return _say_next(script, state, sure)


def _say_next(script: Script, state: SmallTalkState, confidence: float) -> _SmallTalkReply:
    step = state.steps[script.name]
    text = _words_of(script, state, step)
    state.steps[script.name] = step + 1
    if state.over(script):
        state.script = None
    state.asked = state.script is not None
    return _SmallTalkReply(text, confidence, state.asked)


def _words_of(script: Script, state: SmallTalkState, step: int) -> str:
    """Return the text of a step, filled in with the user's answers."""
    previous = script.steps[step - 1].key if step else ""
    text = script.steps[step].say.replace("{answer}", f"{{{previous}}}")
    return state.filled(text, script) or script.steps[step].plain


def _question_of(script: Script, state: SmallTalkState) -> str:
    """Return the open question without the sentences before it."""
    text = _words_of(script, state, state.steps[script.name] - 1)
    return re.split(r"(?<=[.!?]) ", text)[-1]


def _topic(script: Script) -> str:
    return "you" if script.name == "acquaintance" else script.name


def _plain(text: str) -> str:
    """Return the utterance in lower case without signs, courtesies and the assistant's name."""
    text = text.lower().replace("’", "'")
    if not re.search(r"\w", text):
        return text.strip()
    text = re.sub(r"[^\w\s'-]|(?<!\w)['-]|['-](?!\w)", " ", text)
    return " ".join(
        re.sub(r"\b(?:please|pls|assistant|prolocutor|dear|buddy)\b", " ", text).split()
    )


def _spoke_last(request: dict[str, Any]) -> bool:
    utterances = request.get("utterances")
    if not isinstance(utterances, list):
        return False
    spoken = [one for one in utterances if isinstance(one, dict) and one.get("active_skill")]
    return bool(spoken) and spoken[-1]["active_skill"] == NAME


_I_AM = re.compile(
    r"(?:(?:[Hh]i|[Hh]ello|[Hh]ey)[,!.]? )?(?:I'm|I am|i'm|i am|Im) (?P<name>[A-Z][a-zà-ÿ]{1,20})"
    r"(?:[,.!]* (?:it'?s )?(?:so )?(?:nice|pleased|glad|good|happy|great) to meet you)?[.!]?"
)
_PARTS = re.compile(r"[,.;!?]+|\s+(?:and|but)\s+")
_ELSEWHERE = re.compile(
    r"\d|\b(?:jokes?|one-?liners?|puns?|riddles?|laugh|funny|do you know"
    r"|timers?|alarms?|remind\w*|lists?|tasks?|to-?dos?|dice"
    r"|coins?|random|convert|exchange|rate|capital|population|holidays? (?:in|on)|weather|define"
    r"|defin\w+|meaning|means?|synonyms?|antonyms?|spell\w*|words?|translat\w*"
    r"|do (?:you|i|they) say|days|date|clock|percent|how many|how much|time is|time in)\b"
)
_TO_ME = re.compile(
    r"(?:are|did|were|have) you [a-z' ]+|do you (?!know|have|think|remember|mean)[a-z' ]+"
    r"|(?:why|where|what|who) (?:are|do|did|were|makes?|made|is) you(?:r)?\b[a-z' ]*"
)
_LIKE_US = re.compile(
    r"(?:(?<=\bdo )|(?<=\bcan )|(?<=\bare ))"
    r"(?:(?:ro|chat)?bots|ais?|machines|computers|programs|assistants)(?: like you)?\b"
)
"""Those like the assistant, whom a question about it names: "do robots dream"."""

_GREETING = re.compile(
    r"(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening|day)|ok|okay|oh|haha|hehe|lol"
    r"|wow)(?: there)? "
)
_RESUME = re.compile(
    r"(?:let'?s )?(?:go on|continue|carry on|resume)(?: (?:then|talking|our chat|where we (?:were"
    r"|stopped|left off)))?|where were we|what were we talking about"
    r"|(?:let'?s )?(?:go )?back to (?:our|the) (?:chat|talk|conversation)"
)
_STOP = re.compile(
    r"(?:stop(?: it| that)?|enough|no more|let'?s stop|i (?:don'?t|do not) want to (?:talk|say)\b.*"
    r"|change the subject|something else|never ?mind|leave me alone)"
)
# Remarks to the assistant within a script, not answers to its question.
_LEAVING = re.compile(
    r"(?:thanks|thank you|thx|(?:good ?)?bye|good (?:night|morning|evening)|see you|hello|hi|hey)\b"
)
_ABOUT_US = re.compile(
    rf"(?:who|what|how|where) (?:are|r) you\b|(?:what|how)(?: is|'s) your\b|can you help|who am i\b"
    rf"|what(?:'s| is) my name|(?:my name is|call me) (?=\w)|{_LEAVING.pattern}"
)
_ASKS = re.compile(
    r"(?:what|who|whose|when|where|why|how|which|do|does|did|are|is|can|could|would|will|have)"
    r" \w+ \w"
)
_ASKS_US = re.compile(
    r"(?:do|did|are|were|have|can|could|would|will) you \w"
    r"|(?:what|why|how|which) (?:do|did|are) you\b"
)
_QUESTION = re.compile(
    r"\?|\d|^(?:what|who|whose|when|where|why|how|which|can|could|is|are|do|does|tell|set|remind)\b",
    re.IGNORECASE,
)
