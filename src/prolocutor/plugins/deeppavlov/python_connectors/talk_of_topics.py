"""Whether people choose a topic to talk about: a topic, any topic, or rather not this topic.

The phrases are from DREAM's rules. Of a person's utterance the first `MAX_CHARACTERS` count,
of a reply the last.
"""

from __future__ import annotations

import re
from typing import Final

from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import (
    State,
    detected_intents,
    is_no,
    is_yes,
)

MAX_CHARACTERS: Final = 1000

_END = r"(?:[!,?.’'\"]|$)"
_BEGIN = r"^(?:.*[!,?.’'\"] )?"
_WORDS = r"[a-zа-яё0-9 ]*+"
_ARTICLE = r" ?(?:(?:a|an|the|some|any)\b)? ?"
_HELD = r"(?:conversation|talk|chat|discussion|dialog(?:ue)?|speaking|chatter|chit ?chat)"
_HOLD = r"(?:have|hold|carry on|change|make|take|give me|turn on|go into)"
_VERBS = r"talk|chat|chatter|converse|discuss|speak|tell|say|gossip|chin"
_TELL = rf"\b(?:{_VERBS}|{_HOLD}{_ARTICLE}{_HELD}|tell [a-zа-яё0-9 ]{{0,30}})\b"
_TALK = _TELL + r"(?: (?:(?:(?:to|with) )?me(?: now)?|now)\b)?"
_ABOUT = rf"(?:\b(?:about|of|on{_ARTICLE}topic of)\b)"
_THING = (
    r"(?:\b(?:anything|something|that|everything|thing|stuff|other things|что-нибудь|что-то"
    r"|что угодно|вс[её]|что-либо|всякое|другое)\b)"
)
_NOTHING = r"(?:\b(?:nothing|none|neither|ничего|нечего|н[ие] о чем)\b)"
_UNDECIDED = (
    r"(?:\b(?:(?:do not|don't) know|you (?:choose|decide|pick up)|hard (?:to say|one)|не знаю"
    r"|без понятия|(?:ты|сам) (?:выбери|выбирай|реши|решай)|сложно (?:сказать|выбрать))\b)"
)
_WANT = (
    r"\b(?:(?:want|wish|need|desire|going|plan|in need|care) to|wanna|gonna|will|can|could|demand"
    r"|(?:would |'d )?(?:like|love|dream) to)\b"
)
_LET = r"\b(?:let us|let'?s|let me|(?:do|can|could|will|would) (?:we|i|you))\b"
_START = r"\b(?:start|begin|launch|initiate|go on|go ahead|onset)\b"
_LEARN = rf"\bi {_WANT} ?\b(?:know|learn|find out)\b"


def _compile(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_ABOUT_TOPIC: Final = _compile(
    rf"{_TALK} ?{_THING}? ?{_ABOUT}\s{_WORDS}{_END}",
    rf"(?:{_BEGIN}|(?:{_LET}|{_WANT}|{_START}) ?|why (?:do not|don't) (?:we|us|me|you|to) )"
    rf"discuss {_WORDS}{_END}",
    rf"{_LEARN} ?{_THING}? ?{_ABOUT}\s{_WORDS}{_END}",
)
_ABOUT_ANYTHING: Final = _compile(rf"(?:{_TALK}|{_LEARN}) ?{_ABOUT}?\s{_THING}{_END}")
_OTHER_TOPIC: Final = _compile(
    rf"(?:{_BEGIN}|(?:{_LET}|{_WANT}|{_START}) ?){_TALK} ?{_ABOUT}?\s{_THING} else{_END}",
    rf"{_LEARN} {_ABOUT}?\s?{_THING} else{_END}",
    rf"(?:switch|change|next){_ARTICLE}topic{_END}|^next{_END}",
)
_REFUSAL: Final = _compile(
    rf"(?:not|n't|\bno) (?:{_WANT} ?{_TELL}|{_TELL}|\b(?:like|love|prefer|ask|request)\b)"
)
_WHICH_TOPIC: Final = _compile(
    rf"what (?:do|can|could|will|would|are) (?:you|we|i) {_WANT} {_TELL} {_ABOUT}{_END}",
    rf"(?:pick up|choose|select|give)(?: me)?{_ARTICLE}topic{_END}|what(?:'s| is) on your mind",
)
_ANYTHING: Final = _compile(rf"(?:{_THING}|{_NOTHING}|{_UNDECIDED}){_END}")
_ELSE: Final = _compile(
    r"(?:something|anything|everything) (?:else|other)|что-(?:нибудь|то|либо) друго"
    r"|что угодно друго"
)
_ANY_OFFERED: Final = _compile(
    r"\b(?:any|all|either|both)\b|don't know|not know"
    r"|you (?:choose|pick up|tell me|want|wish|like)\.?$"
)
_GREETING: Final = _compile(
    r"the highlight of your (?:day today|week)\?|anything (?:exciting|extraordinary) happened today"
    r"|best thing that has happened to you recently|anything (?:unusual|out of the ordinary) ha"
    r"|what are your (?:hobbies|interests)\?|in your free time\?|capture your imagination"
    r"|your spare time(?: with)?\?|new hobby or interest that you've tried|what things excite you"
    r"|do you do on weekdays|did you get up to today"
    r"|what (?:(?:do|would) you (?:want to|wanna)|are we gonna) talk about\?"
    r"|what would you like to chat about\?|when you have 30 minutes of free time"
    r"|yesterday was a great day for me|a number of cool conversations today"
    r"|days-off to have a rest|my favorite music all day"
    r"|произошло (?:с тобой )?(?:сегодня|на этой неделе)\?|с тобой недавно\?"
    r"|какие у тебя (?:хобби|интересы)|сво[её] свободное время\?|вещи тебя восхищают"
    r"|занимаешься в свободное время|занимаешься на выходных|планируешь заниматься"
    r"|о чем (?:ты хочешь|мы можем) по(?:болтать|говорить)\?|30 минут свободного"
    r"|был отличный день|несколько крутых разговоров|бывают отпуска|мою любимую музыку"
)
"""Questions with which DREAM's bot opens a dialog, and remarks on its own day."""


class Exchange:
    """The newest human utterance with the reply before it (an empty dict if missing)."""

    def __init__(self, newest: State, last: State) -> None:
        self.newest = newest
        self.last = last
        self.text: str = newest.get("text", "").lower()[:MAX_CHARACTERS]
        self.said: str = last.get("text", "").lower()[-MAX_CHARACTERS:]
        self._wishes = "lets_chat_about" in detected_intents(newest)
        self._wished = "lets_chat_about" in detected_intents(last)

    @property
    def greets(self) -> bool:
        """Whether the reply has a question that opens a dialog."""
        return _GREETING.search(self.said) is not None

    @property
    def opens(self) -> bool:
        """Whether the reply asks for a topic, or greets with a question."""
        return self.greets or bool(_WHICH_TOPIC.search(self.said))

    def leaves_topic_open(self) -> bool:
        """Return whether the person wants another topic, any topic, or asks for a topic."""
        undecided = _ANYTHING.search(self.text)
        asked = self._wished or _WHICH_TOPIC.search(self.said or "--")
        return bool(
            _OTHER_TOPIC.search(self.text)
            or _WHICH_TOPIC.search(self.text)
            or _ABOUT_ANYTHING.search(self.text)
            or (undecided and (self._wishes or asked))
        )

    def chooses_topic(self, about: re.Pattern[str] | None = None) -> bool:
        """Return whether the person wants to talk about something, or about this."""
        wishes = self._wishes or self._names_topic()
        asked = self._wished or self.opens
        if not (wishes or asked) or self._refuses(wishes, asked):
            return False
        if about is None or about.search(self.text):
            return True
        offered = re.search(rf"(?:{about.pattern})[a-z0-9,' -]+\?", self.said)
        return bool(offered and (_ANY_OFFERED.search(self.text) or is_yes(self.newest)))

    def _names_topic(self) -> bool:
        found = _REFUSAL, _ABOUT_ANYTHING, _OTHER_TOPIC
        unclear = any(pattern.search(self.text) for pattern in found)
        return not unclear and bool(_ABOUT_TOPIC.search(self.text))

    def _refuses(self, wishes: bool, asked: bool) -> bool:
        other = bool(_ELSE.search(self.text))
        if _REFUSAL.search(self.text) or (wishes and other):
            return True
        return asked and (other or is_no(self.newest) or bool(_OTHER_TOPIC.search(self.text)))
