"""Remarks: words taken apart into how they go on from the turn before, and what is left."""

from __future__ import annotations

import re
from typing import Final

import msgspec

_FILLER: Final = (
    r"(?:ok(?:ay)?|oh|ah|well|hmm+|um|uh|so|alright|right|great|cool|nice|thanks|thank you|please"
    r"|hey|just)"
)
_JOINT: Final = re.compile(
    rf"(?:{_FILLER}[\s,.!]+)*(?:(?P<joint>and|or|but|also|plus|then|now|yes|yeah"
    r"|what if(?: (?:i|we|you|they|it'?s|its|it (?:is|was|were)|there (?:are|were))(?![\w']))?"
    rf"|and then)[\s,]+)?(?:{_FILLER}[\s,.!]+"
    r"|(?:then|now|also|but|maybe|perhaps|if (?:you|i|we))[\s,]+)*",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"(?:what|how|wat|hw) about\s+|what of\s+|(?:and )?(?:the )?same (?:thing "
    r"|question )?(?:but )?(?:for|with)\s+"
    r"|(?:the )?same (?:thing |question )?(?:but )?(?=(?:in|on|at|to|of)\b)"
    r"|(?:do|try|say|give me) (?:the same|that|it) (?:(?:for|with)\s+|(?=(?:in|on|at|to)\b))"
    r"|(?:do|try) (?:it with )?(?=(?-i:[A-Z])|\d)(?!I\b)|is it the same (?=(?:in|for|on)\b)"
    r"|how's about\s+|what's with\s+",
    re.IGNORECASE,
)
_MENDS: Final = re.compile(
    r"(?:(?:no+|nope|nah|sorry|oops|wait|whoops|my bad|hold on|hang on|pardon|correction"
    r"|actually|rather"
    r"|never ?mind(?! (?:the|my|that|this|it|about)\b)|auto ?correct|typo"
    r"|i (?:was|am|have) mistaken(?:,? it(?:'?s| is| was))?"
    r"|make (?:it|that)|change (?:it|that) to|let'?s make (?:it|that)"
    r"|i meant?(?: to say)?(?: to ask)?"
    r"|i (?:wanted|was asking) (?:to say |to ask )?(?:about|for)?|i said|should be"
    r"|it should be"
    r"|i'd rather have|not that|better|of course)\b[\s,.:;!-]*)+",
    re.IGNORECASE,
)
_NOT_BUT: Final = re.compile(
    r"(?:(?:no|sorry|i meant?|actually)[\s,]++)*(?:not (?P<old>[^,]{1,40}?)(?:,| but"
    r"|;) ?(?:but )?(?P<new>.{1,60})"
    r"|(?P<new2>.{1,60}?),? (?:not|instead of|rather than) (?P<old2>[^,]{1,40}))[.!?]*",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"(?<![\s,])(?P<tail>(?:[\s,]++(?:too|as well|also|instead|please|pls|then|now|though|rather"
    r"|actually|this time|thanks|thank you|again|sorry|my bad|i meant?))*)[\s?!.,;]*$",
    re.IGNORECASE,
)
_COURTESY: Final = re.compile(
    rf"(?:(?:{_FILLER}|hi|hello|yo|hiya|good (?:morning|afternoon|evening|night|day)|bye"
    rf"|goodbye|thx|ty|cheers"
    r"|yes|yeah|yep|no|nope|sure|fine|wow|awesome|perfect|good|lovely|got it|i see"
    r"|much appreciated|you too|lol|haha+|hehe"
    r"|very (?:much|funny|nice|good)|so much|a lot|for (?:that|this|the help)|that'?s (?:all"
    r"|it|nice|great|good|funny|cool|right|enough)"
    r"|(?:that(?:'?s| was) )?not (?:so |very |that |really )?(?:funny|good)"
    r"|how are you|what'?s up|sup|help|stop|quit|exit|cancel|never ?mind|interesting|really"
    r"|indeed|welcome|hello again|there"
    r"|well done|good job|not bad|me too|same here|see you|see ya|later)\b[\s,.!?]*)+",
    re.IGNORECASE,
)
_VERBS: Final = re.compile(
    r"(?:what|whats|what's|which|who|who's|whose|when|when's|where|where's|why|how|how's|is"
    r"|are|was|were|does|do|did"
    r"|has|have|had|will|would|am|should|may|must|might|can|could|isn't|aren't|don't|tell"
    r"|give|show|say|list|name|find|look|read|check"
    r"|calculate|compute|convert|work|solve|add|put|set|start|begin|stop|pause|resume|cancel"
    r"|delete|remove|clear|remind|wake"
    r"|mark|tick|cross|move|flip|toss|roll|throw|pick|choose|draw|generate|define|explain"
    r"|translate|spell|count|divide"
    r"|multiply|subtract|take|use|help|let|let's|i|i'm|i'd|we|you|you're|it|it's|he|she|they"
    r"|that's|there's|this|please|make|call|play|open|turn|go|need|buy|get"
    r"|write|note|repeat|try|double|triple|halve|square|cube|round|swap|reverse|switch|send"
    r"|order|book|snooze|extend|shuffle|scratch|forget|drop|undo)\b",
    re.IGNORECASE,
)


class Remark(msgspec.Struct, frozen=True):
    """Words that may go on from the turn before.

    `text` is all of them, `rest` what is left without opening and closing words. `joined`: they
    open as what goes on ("and", "what about"), `mends`: as what corrects, `adds`: they say "too"
    or "also", `asks`: they end in a question mark, `again`: in "again". `speaks`: the rest has a
    verb of its own in front. `option`: they open with "or".
    """

    text: str
    rest: str
    joined: bool = False
    about: bool = False
    mends: bool = False
    adds: bool = False
    asks: bool = False
    again: bool = False
    speaks: bool = False
    option: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether the words say that they are not the whole question."""
        return self.joined or self.mends or self.adds


def is_courtesy(text: str) -> bool:
    """Whether a text is a greeting, thanks, assent or the like, and nothing else."""
    return _COURTESY.fullmatch(text.strip() + " ") is not None


def remark_of(text: str) -> Remark | None:
    """Take a text apart; None for mere courtesy."""
    if is_courtesy(text):
        return None
    asks = text.rstrip(" .!").endswith("?")
    if _NOT_BUT.fullmatch(text):
        return None  # "not Paris but Berlin" is a correction in any language
    rest, joined, adds, joint = text, False, False, ""
    if opened := _JOINT.match(rest):
        joint = (opened["joint"] or "").lower()
        joined = bool(joint) and joint not in ("yes", "yeah")
        adds = joint in ("also", "plus")
        rest = rest[opened.end() :]
    about = _ABOUT.match(rest)
    if about:
        rest, joined = rest[about.end() :], True
    mends = _MENDS.match(rest)
    if mends:
        rest = rest[mends.end() :]
    tail = _TAIL.search(rest)
    closing = tail["tail"].lower() if tail else ""
    rest = rest[: tail.start()] if tail else rest
    rest = rest.strip(" ,;:.!?")
    return Remark(
        text,
        rest,
        joined=joined,
        about=about is not None,
        mends=mends is not None or re.search(r"instead|rather|actually", closing) is not None,
        option=joint == "or",
        adds=adds or re.search(r"\b(?:too|as well|also)\b", closing) is not None,
        asks=asks,
        again="again" in closing,
        speaks=_VERBS.match(rest) is not None,
    )
