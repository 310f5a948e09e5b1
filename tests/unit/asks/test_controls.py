"""The words that steer a round, and those that only begin like them."""

import pytest

from prolocutor.asks.controls import find_control

CONTROLS = {
    "nevermind": "never mind|Never mind.|nevermind|cancel|Cancel!|cancel, please|forget it|"
    "forget about it|skip it|don't bother|I changed my mind|none of them|abort|nvm|"
    "never mind, thanks|ach lass|dann eben nicht|laisse béton|bah non finalement|oublie tout ça|"
    "hm, weißt du was, lass mal|"
    "euh non, laisse tomber en fait|on reflection, neither|"
    "olvídalo mejor|olvidalo ya|mejor no|on second thought, no|eh, leave it then|"
    "I don't need it any more|i dont want to do this any longer|forget it cancel|"
    "spielt keine rolle|laisse tomber annule|ya no hace falta",
    "stop": "stop|Stop!|be quiet|shut up|please stop|that's enough",
    "help": "help|help!|help me|can you help me?|what can I say?|what are my options?",
    "more": "more|show me more|next|more please|what else?|go on",
    "back": "back|go back|previous",
    "yes": "yes|yeah|Yep!|yes please|yes, thanks|of course|sure|I do",
    "no": "no|nope|no thanks|no, thank you.|nah|not really|I don't want to|no way",
}
OTHERS = """cancel my booking at the Hilton|i don't want it on friday|
cancel the timer|stop the timer|stop by the shop|
forget it all and start over with jazz|never mind the gap|help yourself|help me with my homework|
more or less|more milk|back pain|next friday|go back to sleep now|not yet|
yesterday|nice|cool|roger|
good|great|five|mind|nobody|hello|skip to the next song|don't bother my sister|
I need help with sums|
none of your business||?"""


@pytest.mark.parametrize(
    ("text", "control"),
    [(text, name) for name, table in CONTROLS.items() for text in table.split("|")],
)
def test_a_control_is_heard(text: str, control: str) -> None:
    assert find_control(text) == control


@pytest.mark.parametrize("text", "".join(OTHERS.split("\n")).split("|"))
def test_what_says_more_is_none(text: str) -> None:
    assert find_control(text) is None
