"""The patterns of requests about timers."""

import re

from prolocutor_demo.reading.when.lengths import NUMBER, UNIT

_TIMER = r"\b(?:timers?|timr|tmier|tiemr|tiimer|count-?\s?downs?|alarms?)\b"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


CANCEL = _pattern(
    r"(?:cancel|stop|kill|delete|remove|clear|turn off|switch off|shut off|end|dismiss|forget"
    r"|never ?mind|i don'?t need|we don'?t need|drop|abort|silence|get rid of|bin|scrap"
    r"|ditch|lose|axe)\b"
    rf"(?!.*\boff the\b).*{_TIMER}.*|(?:turn )?(?:the |my )?(?:[a-z]+ )?{_TIMER} off"
)
PAUSE = _pattern(rf"put .*{_TIMER} on hold|(?:pause|hold|freeze|halt|interrupt)\b.*{_TIMER}.*")
RESUME = _pattern(rf"(?:resume|unpause|continue|carry on|go on)\b.*{_TIMER}.*")
RESTART = _pattern(
    rf"(?:restart|reset|rerun|repeat|start over)\b.*{_TIMER}.*|start .*{_TIMER} again"
)
EXTEND = _pattern(
    rf"(?:add|put|take|remove|subtract|knock)\b.+ (?:to|on|onto|from|off) .*{_TIMER}"
    rf"|(?:give|extend|lengthen|shorten|reduce|increase|prolong)\b(?! me).*{_TIMER}.+"
    rf"|make .*{_TIMER} .*(?:longer|shorter|more|less)"
)
LEFT = _pattern(
    r"(?:(?:and )?(?:how (?:long|much|many)|how'?s|(?:time )?(?:left|remaining)(?: time)?"
    r"|what(?:'s| is| are|s)?"
    r"|when|which|is|are|has|have|do i have|did|list|show|display|check|tell me|status|state|any"
    rf"|all|my|the|running)\b[^,;.?!]*)?{_TIMER}.*"
    r"|(?:what(?:'s| is) the )?(?:time (?:left|remaining)|remaining time)"
    r"|how (?:long|much (?:time|longer)|many minutes) (?:is |are |do i have )?left"
)
# What is asked about a timer that only its name, its place or a pronoun tells.
REMAINS = _pattern(
    r"(?:(?:and|so|but|ok(?:ay)?) )*(?:(?:how|what) (?:long|much (?:time|longer)|about|is)?|how'?s"
    r"|what'?s|how many (?:seconds|minutes|hours)|when|(?:the )?(?:time )?(?:left|remaining)|check"
    r"|status|show"
    rf"|and|is|are)\b.*{_TIMER}.*|(?:the )?(?:\w+ )?{_TIMER}"
)
SET = _pattern(
    rf".*{_TIMER}.*|(?:time|wake|be alerted|be notified|be woken)(?: (?:me|us|it))? .+"
    r"|count down .+"
    r"|(?:let me know|tell me|shout|call me|warn me|say something) (?:when|after|once|in) .+"
    r"|(?:ping|alert|notify|buzz|beep|nudge|poke|give me a (?:shout|nudge|call|ping|ring))\b.+"
    r"|pomodoro\b.+|(?:start|set|begin|do|run|give me) .*\bpomodoro\b.*"
    r"|(?:put|need|want|give me) .+ on the clock|start the clock (?:for|at) .+"
    rf"|(?:set|start|run|begin|do)(?: me)? (?:{NUMBER})[ -]?{UNIT}\b.*"
    r"|give me [^?]{1,14} (?:minutes?|mins?)"
)
WAKE = _pattern(r"wake (?:me|us)(?: up)?|set (?:me )?an alarm")
# Without a noun, only a length of time makes these a timer.
START = _pattern(
    rf"(?:.*\b(?:set|start|begin|put|give|make|create|run|need|want|have|new|add|launch)\b.*)?{_TIMER}"
    r".*"
)
QUESTION = _pattern(r"(?:how|when|what|which|is|are|has|do|does|did|any)\b")
NOUN = _pattern(_TIMER)
ALARM = _pattern(r"\b(?:alarm|wake)\b|\b(?:until|till|til)\b|\bat \d")
ONE = _pattern(r"(?:an? )?(?:timer|count-?\s?down|alarm)")
FOR_HOUR = _pattern(r"\b(?:for|to) (?=\d{1,2}(?!\d|[ -]?[hms]))")
# Valid while a timer runs.
MORE = _pattern(r"(?:add|take off|and|give (?:it|me)|plus) [^?]{1,30}")
STILL = _pattern(
    r"(?:(?:and|so|ok) )*how (?:long|many minutes|much (?:longer|time|more time))"
    r"(?: (?:have i|do i have|i have|is there|is (?:it|that)|is|to go|got|left|still|more|now"
    r"|remaining"
    r"|until (?:it|that)(?:'s| is) (?:over|done|up|finished)))*"
)
RESET = _pattern(
    rf"(?:(?:put|set|change|make|let|turn|have)\b.*|(?:the|my) (?:\w+ )?)?{_TIMER}"
    r" (?:to|on|at|run(?: for)?|(?:should|must|has to) (?:be|run)(?: for)?)"
    rf" (?P<length>{NUMBER})(?: (?P<unit>{UNIT}))?(?: long| instead)?"
)
# Valid directly after this agent's reply.
JUST = {
    "cancel": _pattern(r"(?:cancel|stop|delete|remove|kill)(?: it| that| them)?"),
    "pause": _pattern(r"(?:pause|hold)(?: it| that)?"),
    "resume": _pattern(r"(?:resume|continue|unpause|go on)(?: it| that)?"),
    "restart": _pattern(r"(?:restart|reset|repeat)(?: it| that)?|(?:start |once )?(?:it )?again"),
    "left": _pattern(r"(?:and )?(?:how (?:long|much)|what)(?: about)? (?:now|left|is left)|now"),
}
PLACES = ("first", "second", "third", "fourth", "fifth")
PLACE = _pattern(
    rf"\b(?P<place>{'|'.join(PLACES)}|last|other|short(?:er|est)|long(?:er|est)) {_TIMER}"
)
# What stands for timers right after this agent's reply: the noun is put in its place.
LEFT_OUT = _pattern(
    r"\b(?:(?P<all>both|all|every one)(?: (?:of )?(?:them|those|these))?|them(?: (?:all|both))?"
    r"|(?P<new>(?:an?|and )?other one|one more|one)(?! (?:hour|minute|second|day)s?\b)"
    rf"|the (?P<place>{'|'.join(PLACES)}|last|other|short(?:er|est)|long(?:er|est)"
    r"|\d+[ -]?\w+)(?: ones?)?|it|that(?: one)?|this(?: one)?)\b"
)
ONES = _pattern(r"^ ones?\b")


def noun_put(found: re.Match[str]) -> str:
    """Return the noun phrase for words that leave out the noun."""
    if found["new"]:
        return "a timer"
    if found["place"]:
        return f"the {found['place']} timer"
    return "all timers" if found["all"] or found[0].lower().startswith("them") else "the timer"


BELOW_ZERO = _pattern(
    r"(?:(?<![\w:-])(?<!\d )[-\u2212\u2013]\s?|\b(?:minus|negative) )"
    r"(?:\d|an?\b|one|two|three|five|ten|half)"
    r"|\b(?:0|zero|no) (?:minutes?|mins?|seconds?|secs?|hours?)\b"
)
TOO_LONG = _pattern(
    r"\b(?:\d[\d,.]*|an?|one|two|three|five|ten|a hundred|a thousand|a million)"
    r" (?:years?|decades?|centur(?:y|ies)|millenni(?:a|um))\b|\bforever\b"
)
AND_THEN = _pattern(
    r"(?:[,;.]|,?\s+(?:and|then))(?:\s+(?:and|then|also|please|just))*\s+(?=(?:cancel|stop|kill|delete"
    r"|pause|resume|unpause|restart|set|start|begin|extend|make|add|put|tell|show|how)\b)"
)
SECONDS = _pattern(r"(?:start a )?count-?\s?down (?:from|of) (\d{1,4})")
MINUTES = _pattern(
    rf"\b(?:timers?|count-?\s?downs?)\b.* (?:for|to|of) ({NUMBER})$"
    rf"|\b(?:timer|count-?\s?down) ({NUMBER})(?= for\b|$)"
)
# "Which one's up first": the timer that ends first.
FIRST = _pattern(
    r"(?:(?:and|so|ok(?:ay)?) )*(?:which|what)(?: (?:timer|one)s?)?(?:'s|s| is| are| will)?"
    r"(?: (?:be|up|off|out|over|done|finished|finish|ready|due|ends?|rings?|goes|go|going|to))*"
    r" (?:first|next|soonest|sooner|earlier)"
)
# "What's still running": all of them.
RUNS = _pattern(
    r"(?:(?:and|so|ok(?:ay)?) )*(?:what|which (?:ones?|timers?))(?:'s|s| is| are)"
    r"(?: still| currently)? (?:running|going|left|ticking|on)(?: (?:still|now|right now))?"
)
# What stands between the lengths of two timers, and what opens the request for several.
JOINT = _pattern(r"\b(?:and|plus|then)\b|[,;&+]")
ANOTHER = _pattern(r"(?= (?:set |start )?(?:an? )?timer\b)")
LEAD = _pattern(
    r"^[\s,:]*+(?:(?:set|start|make|give|put|run|begin|create|both|me|us|up|an?|two|three|four|timers?"
    r"|and|plus|also|another|one|second|other|for|of)\b[\s,:]*+)*"
)
ALL = _pattern(r"\b(?:all|every|both|everything|timers|alarms)\b")
ELSEWHERE = _pattern(
    r"\b(?:jokes?|puns?|mean(?:s|ing)?|defin(?:e|ition)|synonyms?|antonyms?|thesaurus|spell|rem[a-z]*d"
    r"|reminders?|to-?dos?|tasks?|translate|christmas|easter|birthday|holidays?|new year)\b"
    r"|\bcount-?\s?down (?:to|until|till|for)\s+(?!\d|zero|an? |half )(?:the )?[a-z]+$"
)
NAMED = _pattern(
    r"\b(?:called|named|labell?ed)\s+[\"']?(?P<name>[\w'-]+(?:\s(?!for\b|of\b)[\w'-]+)?)"
)
NAMED_BEFORE = _pattern(rf"(?P<name>[^\W\d_][\w'-]*)\s+{_TIMER}")
_WORD = r"[^\W\d_][\w'-]*"
_AND_NOUN = rf"(?:\s(?!(?:for|of|in|at|to|on|and|or|please|now|again|too|timer)\b){_WORD}(?=\s*$))?"
NAMED_FOR = _pattern(rf"{_TIMER}(?:\s+on)?\s+for\s+(?:the|my|some)\s+(?P<name>{_WORD}{_AND_NOUN})")
NAMED_AFTER = _pattern(
    rf"^(?:(?:set|start|put|give|make|run|an?|me|us|new) )*{_TIMER} +(?:for )?"
    rf"(?P<name>{_WORD}{_AND_NOUN})$"
)
"""What stands after the length of time of a timer: "timer 10 minutes oven"."""

NAMED_LAST = _pattern(
    rf"^.*\bfor\s+(?:(?:the|my|some|our)\s+)?(?P<name>{_WORD}{_AND_NOUN})(?:\s+for)?\s*$"
)
LISTED = _pattern(
    r"\b(\d+)(?=(?:(?:,|,? and) \d+)*(?:,|,? and) \d+ (?P<unit>seconds?|minutes?|mins?|hours?)\b)"
)
SPACED = _pattern(r"\b(\d+)(?= \d+(?: \d+)*,? and \d+ (?:seconds?|minutes?|mins?|hours?)\b)")
"""Numbers without commas before the last of a list: "5 10 and 15 minutes"."""

HOUR_AND = _pattern(r"\b(hours? and \d{1,2})(?=\W*$| for\b)")
"""Minutes after an hour, without their unit: "an hour and 25"."""

# "3 minutes for tea and another of 12 for eggs": the unit of the first holds for the second.
UNITLESS = _pattern(
    r"(?:,|\band)(?: (?:another|one|a second)(?: one)?(?: (?:of|for|at))?)? \d+(?= for [^\W\d])"
)
NO_NAME = frozenset(
    """a an the my our your this that another new running any all every each both first second last
    next current set start begin put give make create run need want have add launch cancel stop kill
    delete remove clear pause resume restart unpause extend check show list one two three more of on
    off and to in for with which what how many timer timers countdown alarm please me minute minutes
    hour hours later now then
    him her us everyone other longer longest shorter shortest third fourth fifth
    long short quick time is are up i'll there oh active no""".split()
)
