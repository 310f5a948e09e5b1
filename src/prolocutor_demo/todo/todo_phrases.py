"""The patterns of requests about todos and reminders."""

import re

_NAMES = r"to[- ]?dos?|tasks?|shopping|grocer(?:y|ies)|packing|bucket|reading|wish|gift"
_ANY_LIST = (
    r"(?:(?:my|the|our|your|this|that|the same|meine|die|ma|la|mi)\s+)?"
    rf"(?:(?P<list>{_NAMES}|[a-z]{{3,15}})\s+)?list(?:e|a)?\b"
    r"(?! of (?!things|todos|tasks))(?: of (?:things(?: to (?:do|buy|get))?|todos|tasks))?"
)
_THEIRS = r"(?:my|the|our)\s+(?:to[- ]?dos?|tasks?|reminders?|notes)\b"
_MINE = (
    rf"(?:(?:my|our)\s+(?:[a-z-]+\s+)?(?:[a-z]+\s+)?list\b|(?:{_NAMES})\s+lists?\b"
    r"|\b(?:on|me|out) the list\b|\bthe (?:whole|full|entire|complete|current) list\b"
    r"|\bto-?dos?\b|\btasks?\b|\breminders?\b)"
)
_INTO = rf"(?:{_ANY_LIST}|{_THEIRS})"
_REMIND = r"(?:rem(?:ind|imd|nid|id|inde?d|in)|reminf)"
_ITEM = r"(?:reminders?|tasks?|to-?dos?|items?|entry)"


def _patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text, re.IGNORECASE) for text in texts)


ADD = _patterns(
    rf"(?:(?:don'?t forget to|be sure to|make sure to) )?{_REMIND} me(?: again)?\b"
    r"(?![\s,]+(?:what|who|how|which|where|why)\b)(?P<what>.*)",
    r"(?:be |get )?reminded (?P<what>(?:to|of|about|that)\b.+)",
    r"(?:(?:i(?:'d)? (?:need|want|like)|can i (?:have|get)|let me have) )?"
    r"(?:(?:please )?(?:set|create|make|add|put|give me|schedule|leave|save|store|note|book|stick"
    r"|pop|drop)(?: up| in)?(?: me)? )?"
    r"(?:an? |another |one more )(?:new )?reminder\b(?: in)?(?: please)?[\s:,-]*(?P<what>.*)",
    r"(?:new|set|add|create) reminder\b(?: please)?[\s:,-]*(?P<what>.*)",
    r"reminder(?:\s*[:–-]|\s+(?:to|about|that))\s*(?P<what>.+)",
    r"reminder(?P<what>\s+(?:for|on|at|in|by|tomorrow|today|tonight)\b.+)",
    r"(?:don'?t|do not|never) let me forget\b(?P<what>.+)",
    r"(?:don'?t|do not) forget (?=to |about |that )(?P<what>.+)",
    r"(?:help me|make sure (?:that )?i|i (?:must|should|have to))(?: to)? "
    r"(?:remember|don'?t forget|not forget)\b(?P<what>.+)",
    r"i (?:mustn'?t|shouldn'?t|can'?t|don'?t want to) forget\b(?P<what>.+)",
    r"(?:remember|note(?: down)?) (?=to |that )(?P<what>.+)",
    rf"(?P<what>.+?)[,;.] (?:so |please |and )*(?:{_REMIND} me|don'?t let me forget)"
    r"(?: (?:of|about) (?:it|that|this))?(?P<tail>(?: .*)?)",
    r"(?:my |the )?(?P<list>shopping|grocer(?:y|ies)|to-?do|packing)"
    r"(?: list\s*[:–-]|\s*:)\s*(?P<what>.+)",
    rf"(?:add|put|write|enter)(?: something| this| an?(?: new)? (?:item|entry|task|thing))?"
    rf" (?:to|on|onto) {_INTO}\s*[:,-]?\s*(?P<what>.*)",
    r"(?:i (?:have|need|want|'ve got) to |i need )?(?P<what>.+?)[,.;:]?"
    r" (?:so |and |please |can you ){0,3}(?:put|add|write) (?:it|that|this|them)"
    rf" (?:to|on|onto|in|down on) {_INTO}",
    rf"(?:(?:for|on|onto|to) )?{_INTO}(?:\s*[:–-]|\s+needs?\b)\s*(?P<what>.+)",
    r"(?:have|(?:(?:i|we)(?:'d| would)? )?(?:like|want|love|need)(?: to (?:have|get|see))?)"
    r" (?!i\b|we\b|you\b|to\b)(?P<what>.+?)(?: (?:added|put|written|noted|entered))?"
    rf" (?:to|on|onto) {_INTO}(?P<tail>.*)",
    r"(?:add?|put|stick|place|write|include|enter|throw|pop|jot|note|chuck|bung|slap|shove|drop|toss"
    r"|slip|log|save|tack|(?:(?:i|we) )?need|get)(?: down)?"
    rf" (?P<what>.+?) (?:to|on|onto|in|into|for) {_INTO}(?P<tail>.*)",
    r"(?:(?:add|create|make|open|set up|start)\s+(?:an?\s+|another\s+|one more\s+)?(?:new )?|new )"
    r"(?:to-?\s?do|task)\b(?: item)?\s*(?:[:–-]+|to\b|called\b|named\b|for\b)?\s*(?P<what>.+)",
    r"(?:to-?\s?do|task)\s*(?:[:–]|\s-|\badd\b)\s*(?P<what>.+)",
    r"(?:add|put) (?P<what>.+?) (?:to|on|onto) (?:the |my )?"
    r"(?P<list>shopping|groceries|to-?dos?|tasks?)(?P<tail>)",
    r"(?:make|take|keep|leave) (?:me )?a note(?P<what>)",
    r"(?:note to self|(?:make|take|keep|leave) (?:me )?a note|note(?=:)|jot down"
    r"|jot (?:(?:this|it|that) )?down|write (?:(?:this|it|that) )?down|put down)"
    r"\b\s*[:,-]?\s*(?P<what>.+)",
)
LEADS_IN = re.compile(
    r"both(?=.* and )\s+|(?:\d+|two|three|four|five|six|these|some|several|a few|the following)"
    r"(?: [\w-]+){0,2}:\s+",
    re.IGNORECASE,
)
"""What leads entries in and is no part of the first: "both", "three groceries:"."""

NOTHING_NAMED = re.compile(
    r"(?:some|any|every|no)?(?:thing|stuff)s?(?: else| new)?|both(?: of (?:them|those))?"
    r"|all(?: of them)?|it|them|that|this|these|those|one|an? item"
    r"|(?:another|a new|one more)(?: one| thing| item)?",
    re.IGNORECASE,
)
"""What is no entry by itself: what is meant has to be asked."""

SOMETHING = re.compile(
    r"(?:something|one(?: thing)?|an?(?: (?:item|entry|thing|task|reminder))?)(?: off| out)?",
    re.IGNORECASE,
)
"""An entry that is not named: which one is meant has to be asked."""

AGAIN = re.compile(r"(?:^|\s+)again$", re.IGNORECASE)

CLEAR = _patterns(
    r"(?:clear|empty|wipe|erase|delete|remove|cancel|reset|purge|forget|dismiss)(?: out| off)?"
    r"(?: all| everything| every| each)?(?: of)?(?: the| my| our)?(?: open)?"
    r"(?: (?:things?|items?|entries))?(?: (?:from|on|in|off))?"
    rf" (?:{_ANY_LIST}|reminders|tasks|to-?dos)(?: clean| completely)?",
    r"(?:clear|delete|cancel|remove) (?:every|each) (?:reminder|task|to-?do)",
    rf"(?:start|begin) (?:a new|over|afresh)\b.*{_ANY_LIST}",
)
_KIND = r"(?:all )?(?:of )?(?:my |the )?(?:(?:to-?do |task )?lists?|to-?dos|tasks|reminders)"
CLEAR_ALL = _patterns(
    r"(?:clear|wipe|erase|delete|remove|cancel|forget|empty) (?:out )?"
    r"(?:everything|it all|all(?: of (?:it|them))?|all (?:of )?my (?:lists|entries|notes))",
    rf"(?:clear|delete|remove|wipe|cancel|erase) {_KIND} and {_KIND}",
)
FINISH = _patterns(
    r"(?:you (?:can|may) )?(?:tick|check|cross|strike|scratch) (?:off|out) (?P<what>.+?)"
    rf"(?: (?:off|from|on|in) {_INTO})?",
    rf"(?:you (?:can|may) )?(?:tick|check|cross) (?P<what>.+?) off(?: (?:of |from )?{_INTO})?",
    r"(?P<what>.+?)[,;.] (?:please |so |and )*(?:tick|check|cross|take) (?:it|that) off.*",
    r"(?:you (?:can|may) )?mark (?P<what>.+?) (?:as )?(?:done|completed?|finished|off|ready)",
    rf"(?P<what>(?:the )?(?:\w+ )?{_ITEM} (?:number )?\w+|number \w+) (?:is|was) "
    r"(?:done|finished|completed?)",
    rf"(?:complete|finish|close) (?P<what>(?:the |my )?(?:\w+ )?{_ITEM}\b.*|number \w+)",
    rf"i(?:'m| am|'ve| have)? ?(?:just |already )?(?:done|did|finished|completed|through)"
    r"(?: with)? "
    rf"(?P<what>(?=.*{_MINE}).+?)(?:[,;] .*)?",
)
_PUT = r"(?:write|put|add|get|take|note|buy|use|have|make it|i(?:'d| would) (?:like|rather have))"
REPLACE = _patterns(
    rf"(?:(?:and|but|so|then) )*(?:instead of|in place of|rather than) (?P<old>.+?),? {_PUT}"
    r"(?: down)? (?P<new>.+)",
    r"(?:(?:and|but|so|then) )*(?:replace|swap|exchange|substitute) (?P<old>.+?) (?:with|for|by)"
    r" (?P<new>.+)",
    r"(?:(?:and|but|so|then) )*(?:change|turn) (?P<old>.+?) (?:to|into) (?P<new>.+)",
    rf"(?:(?:and|but|so|then) )*{_PUT} (?P<new>.+?) (?:instead of|in place of|rather than)"
    r" (?P<old>.+)",
)
CHANGES = re.compile(r"(?:(?:and|but|so|then) )*(?:replace|swap|change|turn)\b", re.IGNORECASE)
REMOVE = _patterns(
    r"(?:you (?:can|may) )?(?:remove|delete|drop|erase|cancel|forget|take|scratch|strike"
    rf"|get rid of)(?: off)? (?P<what>.+?) (?:off|from|out of|on) {_INTO}",
    rf"(?:remove|delete|cancel|forget|drop|erase|dismiss|scrap)(?: the| my| that)? {_ITEM}\b"
    r"(?: (?:to|about|for|of|that|on))?(?P<what>.*)",
    rf"(?:remove|delete|cancel|forget|drop|erase|dismiss|scrap) (?P<what>.+) {_ITEM}",
    r"(?:remove|delete|drop|erase|scrap) (?P<what>(?:(?:number|no\.?|#) ?)?\d{1,3}"
    r"|(?:number|no\.?) \w+|the \w+ one)",
)
MOVE = _patterns(
    r"(?:move|push|postpone|reschedule|shift|change|delay|snooze|bring forward)(?: back)?"
    r"(?: the| my)? (?P<what>.+?)(?: back)?(?: (?P<when>(?:to|by|until|till|for|on) .+))?",
)
DUE = _patterns(
    r"when (?:do|did|am|will|should|must|was) (?:i|we) "
    r"(?:(?:have|need|want|going|supposed|meant) to )?(?P<what>.+)",
)
LOOK = _patterns(rf"(?:is|are) (?:there )?(?P<what>.+?)(?: already)? (?:on|in) {_INTO}")
SHOW = _patterns(
    r"what(?:'s| is| do| did|s)? (?:i (?:still )?(?:have|need|want|got) to do|left to do|due"
    r"|overdue|next on my list|on my plate)\b.*",
    r"(?:is there )?anything (?:else )?(?:i (?:still )?(?:have|need) to do|due)\b.*",
    r"what (?:did|have) i (?:ask|told?|tell|want)(?:ed)? you to "
    rf"(?:{_REMIND} me|remember|note)\b.*",
    r"what (?:should i|do i (?:have|need|want|still have) to|must i) (?:do|buy|get|remember)"
    r"(?: (?:today|tomorrow|this week|next|on [a-z]+|tonight|now|still))*",
    r"what was (?:the thing |it )?(?:that )?i (?:had|wanted|needed|have) to"
    r" (?:do|buy|remember)\b.*",
    r"(?:list|show|tell me|give me|what(?:'s| is)) (?:me )?(?:all|everything|what|the things)"
    r"(?: that)? i (?:still )?(?:have|need|want|ought) to (?:do|buy|get|remember)\b.*",
    r"do i have (?:anything|something|a lot|much|things) (?:to do|to buy|planned|due)\b.*",
    r"(?:have i forgotten|did i forget|am i forgetting) (?:anything|something)\b.*",
    r"what was i (?:supposed|meant) to (?:do|remember)\b.*",
    rf"(?:(?:all|my|our|the|list|show|read|me) )*{_MINE}"
    r"(?: (?:for )?(?:today|tomorrow|this week))?",
)
# "Put eggs on it as well", "glue on there too": the list that was used last.
ADD_THERE = _patterns(
    r"(?:(?:and|also|now|then|oh) )*(?:(?:add|put|stick|write|pop|get|include|note) )?(?:down )?"
    r"(?P<what>[^\W\d_][\w ,'-]{1,60}?)(?: (?:as well|too|also))? (?:to|on|onto) (?:it|there|that)"
    r"(?:[\s,]+(?:as well|too|also|again))*",
    r"(?:and )?(?:add|put|stick|write|pop|note) (?:also )?(?P<what>[^\W\d_][\w ,'-]{1,60}?) there",
)
_ON_IT = r"(?:(?:on|in) (?:it|there|that|(?:the |my |that |our )?list)|there)"
_NOTED = r"(?:got|gotten|put|have|add|added|noted?|wr(?:ote|ite|itten)|said|told you|want(?:ed)?)"
_THINGS = r"(?:things?|items?|entr(?:y|ies)|ones|stuff)"
_WHAT_ALL = (
    rf"(?:and |so |then |now |ok(?:ay)? |alright |right )*what(?:'s|s|'ve)?"
    rf"(?: (?:all|else|is|are|do|did|have|has|i|we|still|just|already|{_THINGS}))*"
)
# What means the list only right after it was spoken of.
SHOW_IT = _patterns(
    r"(?:(?:can|could|may|might|would|will|you|i|we|let|me|us|please|just|now|ok(?:ay)?|so) )*"
    r"(?:show|see|read|hear|view|display)(?: (?:me|us))?"
    r"(?: (?:it|them|everything|it all|(?:the |that )?list))?"
    r"(?: (?:to (?:me|us)|out|aloud|again|please|back|now))*",
    r"(?:and |so )?(?:the |my )?(?:list|notes|entries|reminders)(?: please)?",
    r"(?:and |so )?what(?:'s|s| is)? (?:(?:on |in )?there|on it"
    r"|(?:still )?(?:left|remains|remaining|missing|open))"
    r"(?: (?:(?:on |in )?(?:there|it)|so far|now|already|please))*",
    r"(?:and |so )?what (?:do (?:i|we) (?:still )?(?:have|need|lack)|(?:have|am|are) (?:i|we)"
    r" (?:still )?(?:got|missing))(?: (?:(?:on |in )?there|on it))?"
    r"(?: (?:so far|now|already|still))?",
    rf"{_WHAT_ALL}(?: (?:left|remaining|{_ON_IT}|{_NOTED}(?: {_ON_IT})?))+"
    r"(?: (?:so far|now|already|still|again|then))*",
)
WEAKLY = re.compile(r"(?:drop|lose|ditch|scrap|bin)\b", re.IGNORECASE)
"""Verbs that remove an entry only where there is one of that name."""

# What means a list also after another agent spoke, where there is one.
SHOW_LATER = _patterns(
    rf"{_WHAT_ALL} (?:{_NOTED} )?{_ON_IT}(?: (?:so far|now|already|still|again|then))*",
    rf"(?:is|are) there (?:any(?:thing)?|something|more)(?: else| more| left)* {_ON_IT}",
    rf"what (?:were|was|are|is) (?:the|those|these|my)(?: \w+)? {_THINGS}(?: (?:i|we) {_NOTED})?"
    rf"(?: {_ON_IT})?(?: again| now)*",
)
# "Did I put milk on there": asked with what stands for the list.
LOOK_THERE = _patterns(
    rf"(?:did|have|had|has) (?:i|we) (?:already |just |also )?{_NOTED} (?P<what>.+?)(?: down)?"
    rf"(?: already| yet)?(?: {_ON_IT}| (?:on|to|in) {_INTO})(?: already| yet)?",
    r"(?:did|have|had) (?:i|we) (?:already |just |also )?(?:add|added|noted?|written)"
    r" (?!it\b|that\b|this\b)(?P<what>.+?)(?: down)?(?: already| yet)?",
    rf"(?:is|are) (?!there\b)(?P<what>.+?)(?: already)? {_ON_IT}(?: already| yet)?",
)
WAIT = re.compile(
    r"(?:(?:wait|oh|hang on|hold on|hm+|hey|so|and|but|actually|sorry|also)\b[\s,.]*)+",
    re.IGNORECASE,
)
"""What opens a question about the list that was thought of just now."""

SHOW_LOOSELY = _patterns(
    r"(?:(?:show|see|read)(?: me)? )?(?:(?:my|the|our) )?(?:to-?do )?lists?",
    r"(?:(?:what|show|list|read|tell|give|display|check|see|view|open|pull up|get|print|which|any"
    r"|are|is|do|did|have|how many|when|let me|can i|am i|how)(?:'s|s|'re)?\b)"
    rf".*{_MINE}.*",
)
# "I've called Anna", "the laundry is done": only if the item is on a list.
REPORT = _patterns(
    r"i(?:'ve| have)(?: just| already| finally)? (?P<what>[a-z]+ .+)",
    r"i(?: just| already| finally)? (?P<what>(?!need)(?:[a-z]+ed|bought|paid|sent|wrote|took|made"
    r"|got|did|went|rang|read|put|brought) .+)",
    r"(?P<what>.+?) (?:is|are) (?:done|finished|completed?|bought|sorted)",
    r"(?:i'?m )?(?:done|finished) (?:with )?(?P<what>.+)",
)
# Only the name of a list: shown with less confidence.
MENTION = _patterns(
    rf".*(?:(?:my|our) (?:[a-z-]+ )?(?:list|to-?dos|tasks|reminders)\b|{_ITEM} \d+\b).*"
)
# "I need to buy bread": only where no agent knows better.
BUY = _patterns(
    r"(?:(?:i|we) (?:still |also |really )?(?:need|have|want|must|should|ought|'ve got)(?: to)? )?"
    r"(?:buy|get some|pick up|purchase) (?P<what>[^\W\d_][\w ,'-]{1,60})",
    r"(?:i'?m|i am|we'?re|we are) (?:running )?(?:almost )?out of (?P<what>[^\W\d_][\w ,'-]{1,40})",
)
# "Add something": neither the entry nor the list is said.
ADD_BARE = _patterns(
    r"(?:add|note|note down|write down|put down)"
    r"(?: (?:something|one|another one|an? (?:new )?(?:item|entry|thing)))?(?P<what>)"
)
# "Remove milk": what it is to be removed from is not said.
REMOVE_LOOSELY = _patterns(
    r"(?:remove|delete|cross out|scratch|take ?off|leave out) (?:the |my )?"
    r"(?P<what>[^\W\d_][\w' -]{1,40})",
    r"(?:remove|delete|cross off|take off)(?P<what>)",
    r"(?:drop|lose|ditch|scrap|bin) (?:the |my )?(?P<what>[^\W\d_][\w' -]{1,40})",
    r"(?:take|cross|strike) (?:the |my )?(?P<what>[^\W\d_][\w' -]{1,40}?) (?:off|out)(?: again)?",
)
# "Bananas on my shopping list": without a verb.
ADD_WITHOUT_VERB = _patterns(
    r"(?P<what>(?!(?:what|which|who|how|when|where|is|are|do|does|did|show|read|tell|list|clear"
    r"|let'?s|and|also|please|with|in|now|everything|anything|nothing|all|items?|things?|number|something|i|i'\w+|we|you|it|there|why|can"
    r"|could|will|would|have|has|had|put|no|yes|remove|delete|take|tick|mark|cross|move|check)\b)"
    rf"[^\W\d_][\w ,'-]{{1,60}}) (?:on(?:to)?|to|for) {_INTO}(?P<tail>)",
    r"(?P<what>)(?:an? )?(?:new|another) (?:to-?\s?do|task|item|entry)(?P<tail>)",
)
CLAUSE = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|has|have|had|i|you|we|they)\b", re.IGNORECASE
)
"""What makes a clause of words: no thing is named by them."""

REASON = re.compile(rf"[,;]\s+(?!and\b)[^,;]*{CLAUSE.pattern}[^,;]*$", re.IGNORECASE)
"""A clause after an entry that tells why: "rice, the pasta is gone"."""

ADD_LOOSELY = _patterns(
    r"add (?P<what>(?!(?:them|it|that|this|these|those)\b|.*(?:\d|\b(?:one"
    r"|two|three|four|five|six|seven|eight|nine|ten|plus|up"
    r"|timer|minutes?|vat|percent)\b))[^\W\d_][\w' ,-]{1,60})"
)
# "We don't need eggs any more", "the eggs can go": words around an entry that take it off.
TAKES_OFF = re.compile(
    r"\b(?:(?:do|does|wo|need|ca)n'?t|no(?!,)|not|never|without|skip|omit|leave|drop|lose|ditch|scratch"
    r"|scrap|strike|cross|forget|cancel|remove|delete|erase|take|bin|kill|minus|already|got|off|out"
    r"|gone|go|enough|takeoff|(?:i|we)(?:'ve got| (?:still )?have(?: got)?)(?! to\b))\b",
    re.IGNORECASE,
)
AROUND_ENTRY = frozenset(
    """i we you they can could may should will i'm i've we've we'll let's us me need needs needed
    want wants any anymore more longer the a an some of my our your from on in to list shopping
    grocery
    todo that them it is are was be have has had got 've actually please come after all and just
    really well ok okay now do so then oh back home here at still bought buy getting get rid with
    too either again add put wait hang hold oops whoops sorry hm no""".split()
)
QUESTION = re.compile(
    r"(?:what|which|who|how|when|where|why|is|are|do|does|did|have (?:i|we)|has|had|should)\b"
    r"|.*\b(?:do|does|did)n'?t have\b",
    re.IGNORECASE,
)
ALL_BUT = re.compile(
    r"\b(?:everything|all(?: of (?:it|them))?) (?:except|but|apart from)\b", re.IGNORECASE
)
ELSEWHERE = re.compile(
    r"\b(?:jokes?|puns?|mean(?:s|ing)?|defin(?:e|ition)|synonyms?|antonyms?|opposite|thesaurus"
    r"|spell|translate|rhymes?|capital|timers?|alarms?)\b",
    re.IGNORECASE,
)
ADD_TO_SHOPPING = re.compile(r"add (?P<what>.+) to my (?P<list>shopping) list", re.IGNORECASE)
NOT_OURS = frozenset(
    """timer timers alarm alarms data account history chat conversation file files everything all me
    profile app messages it that this them email emails photo photos""".split()
)
EVERY = re.compile(
    r"\b(?:every|each)\s+(?:single\s+)?(?P<every>weekday|day|morning|afternoon|evening|night|week"
    r"|month|year|mon|tues|wednes|thurs|fri|satur|sun)(?P<day>day)?s?\b"
    r"|\b(?P<ly>daily|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
NO_ENTRY = re.compile(
    r".*\b(?:what|which|who|how|when|where|why)\b.*|(?:set|start|stop|cancel|tell|show|convert|spell"
    r"|define|translate|roll|flip|toss|throw|pick|choose|calculate|remind)\b.*",
    re.IGNORECASE,
)
"""What asks or orders something, so that it is no entry that is named in passing."""

AND_ALSO = re.compile(
    r"(?:and|also|plus)(?: also)?(?: (?:add|put))? (?P<what>[^?]{2,80})", re.IGNORECASE
)
AND_ASKS = re.compile(
    r"[\s,;.]*\b(?:and|then|also|plus|or)\b[\s,]+(?:(?:and|then|also|please|can you|could you)\s+)*"
    r"(?:what|which|who|how|when|where|why|is|are|do|does|did|tell|show|read|give|set|start|stop"
    r"|cancel|convert|spell|define|translate|roll|flip|toss|calculate|remind)\b.*",
    re.IGNORECASE,
)
"""Another request after an entry, which is no part of it."""

HEDGE = re.compile(
    r"\b(at|in|for|around|by) (?:like|say)(?= (?:\d|one|two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve|noon|midnight|half|quarter|an hour)\b)",
    re.IGNORECASE,
)
"""What people say before a time that they are not sure of: "at like nine"."""

OPENING = re.compile(
    r"^[\s,:;.-]*(?:later )?(?:(?:to|that|about|of|for)\b\s*(?:to\s+)?)?", re.IGNORECASE
)
REMINDERS = re.compile(rf"\breminders?\b|\b{_REMIND} me\b", re.IGNORECASE)
AND_THEN = re.compile(
    r"(?:[,;.]|,?\s+and)(?:\s+(?:then|also|please))*\s+"
    rf"(?=(?:{_REMIND} me|add|put|tick|check off|cross|remove|delete|clear|show|read|mark"
    r"|note|jot|write)\b)",
    re.IGNORECASE,
)
IT_OFF = re.compile(r"(?:tick|check|cross|take) (?:it|that) off\b.*", re.IGNORECASE)
AND_TO = re.compile(
    r",?\s+and\s+(?:also\s+)?(?=to\s|(?:in|at|on|by|tomorrow|tonight|next)\b[^,.;]{1,30}\sto\s)",
    re.IGNORECASE,
)
OF_LIST_AT_END = re.compile(
    r"\s(?:to|on|onto|from|off|in)\s+(?:my|the|our)\s+[a-z -]{0,20}\b(?:list|to-?dos|tasks)$",
    re.IGNORECASE,
)
OF_LISTS = re.compile(r"\b(?:lists?|to-?dos?|tasks?)\b", re.IGNORECASE)
# Verbs that begin an item: "call mum and dad" is one thing, "eggs and bread" are two.
VERB = re.compile(
    r"(?:ask|bake|book|bring|buy|call|check|clean|collect|cook|do|email|feed|fetch|find|finish|fix"
    r"|get|give|go|invite|learn|mail|make|meet|message|order|pack|paint|pay|phone|pick|plan|play"
    r"|read|repair|return|ring|see|sell|send|sort|take|tell|text|thank|tidy|visit|walk|wash|watch"
    r"|water|write)\b",
    re.IGNORECASE,
)
BOTH = re.compile(r"both(?: of (?:them|those|these))?|the two(?: of them)?", re.IGNORECASE)
_MORE = r"(?:(?:then|also|and|plus|maybe)\s+)*"
COMMA = re.compile(rf"\s*,\s*{_MORE}", re.IGNORECASE)
JOINT = re.compile(rf"\s*,\s*{_MORE}|\s+(?:and|plus)\s+{_MORE}", re.IGNORECASE)
CLOSING = re.compile(r"(?<=\w)(?:[\s,]+then)+$", re.IGNORECASE)
"""What closes an order after its entry: "hair gel then"."""

ON_IT = re.compile(
    r"(?:\s+(?:to|on|onto) it|(?<!\bbe)(?<!\bgo)(?<!\bget)(?<!over)(?:\s+(?:to|on|onto))?\s+there)"
    r"(?:[\s,]+(?:as well|too|also|again))*$",
    re.IGNORECASE,
)
"""The list once more, after an entry: "eggs on it as well"."""

ALL_OF_THEM = re.compile(
    r"[\s,–-]+(?:all|everything|both|each)(?: of (?:it|them|these|those|that))?$", re.IGNORECASE
)
"""What sums up the entries before it: "soap, towels - all"."""

SAME_LIST = re.compile(r"\b(?:that|this|the same) list\b", re.IGNORECASE)
LIST_NAME = re.compile(r"\b(?P<list>[a-z]+|to[- ]do)[- ]lists?\b", re.IGNORECASE)
UNNAMED = frozenset(
    "todo to-do to do task tasks my the our your this that a todos off of new same"
    " whole full entire complete current on to onto in into from".split()
)
