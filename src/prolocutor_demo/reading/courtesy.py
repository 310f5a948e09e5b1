"""Removes courtesies from a request: "could you flip a coin, please?" is "flip a coin"."""

import re

# Words of one or two letters are chat before an order, "k put milk on my list", but for these.
_CHAT = (
    r"(?:(?!(?:i|we|he|it|do|no|to|my|is|am|be|if|up|me|us|as|at|by|in|of|on|or)\b)[a-z]{1,2}|fine"
    r"|good|great|cool|sure|yeah|yep)"
)
_BEFORE = re.compile(
    r"(?:hey|hi|hello|yo|ok|okay|please|pls|plz|kindly|so|well|now|then|right|alright|just|also"
    r"|assistant|prolocutor|(?:can|could|would|will) you(?: be so kind as to| mind)?"
    rf"|(?:and|next|{_CHAT})(?=(?:[\s,]+(?:and|then|just|now|please|also|so|{_CHAT}))*[\s,]+(?:put|add"
    r"|stick|pop|note|set|start|remind|remove|delete|take|tick|cross|clear|cancel|show|read)\b)"
    r"|let'?s|(?:can|could|may|might) (?:i|we)(?= (?:please |just )*(?:see|hear|get|have|add|put"
    r"|note|check|view|read|set|start|remove|delete|cancel|clear|change)\b)"
    r"|be so kind as to|(?:i|we)(?:'d| would) (?:like|love|want)(?: for)?(?: you)? to"
    r"|i (?:want|need)(?: you)? to|i was wondering if you could|would it be possible to)"
    r"(?:[\s,.:;!]+|$)",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:(?<![\s,])[\s,]++(?:please|pls|plz|for me|for us|thanks|thank you|thx|will you|would you"
    r"|could you|can you|mate|right now|now|real quick|quickly|too|as well"
    r"|if (?:that|it)(?:'s| is) (?:ok(?:ay)?|all ?right|possible|fine)"
    r"|if you (?:can|could|would|will|like|don't mind|wouldn't mind)"
    r"|when you (?:can|get a chance)))?+[\s.!?;,]*+$",
    re.IGNORECASE,
)
_ROUNDS = 5
_CHAT_ALONE = re.compile(
    r"(?:(?:thanks|thank you|thx|please|ok|okay|sure|yes|no|hello|hi|hey|sorry|bye|goodbye|cool|lol"
    r"|great|nice|good|well|job|work|done|so much|very much|a lot|too|have a|day|evening|night|that"
    r"|is|was|it|all|perfect|lovely|awesome|for now|also|and|as well)(?:[\s,.!]+|$))+",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:(?:no|oh|but|please|sorry|wait)[\s,]+)*(?:do not|don'?t|never)\s+(?:you dare )?"
    r"(?!(?:let me )?forget|worry|need|want|mind|i\b|you\b|we\b|know|think|have)\w+"
    r"|(?:(?:and|but|what)\s+)?if (?:i|we)\b.*[,?]",
    re.IGNORECASE,
)


def is_chat(text: str) -> bool:
    """Return whether a text is nothing but thanks, praise and the like."""
    return _CHAT_ALONE.fullmatch(text.strip()) is not None


def orders_nothing(text: str) -> bool:
    """Return whether a text denies an order, "don't set a timer", or only supposes it."""
    return _DENIED.match(text.strip()) is not None


def bare(text: str) -> str:
    """Return the request without courtesies, with its case unchanged."""
    text = " ".join(text.replace("’", "'").split())
    for _ in range(_ROUNDS):
        shorter = _without_start(text)
        shorter = _AFTER.sub("", shorter, count=1)
        if shorter in {text, ""}:
            break
        text = shorter
    return text


def without_end(text: str) -> str:
    """Return words without the courtesies after them; the words where they are nothing else."""
    return _AFTER.sub("", text, count=1) or text


def _without_start(text: str) -> str:
    found = _BEFORE.match(text)
    if found is None:
        return text
    return text[found.end() :]
