"""Two hundred pairs of answers, made up: a right one, and one that repeats the question's words."""

from itertools import product

from prolocutor.contracts.pairing import AgentAnswer, UserQuestion

_ASKED = {
    "roll the dice": "You rolled a 4.",
    "what is the weather in Oslo": "Light snow, minus 3 degrees.",
    "set a timer for ten minutes": "Okay, ten minutes, starting now.",
    "how far is it to the moon": "About 384,000 kilometres.",
    "play something by Miles Davis": "Here is So What, from Kind of Blue.",
    "who wrote Hamlet": "William Shakespeare, around 1600.",
    "convert five miles to kilometers": "8.05 km.",
    "tell me a joke about cats": "Why did the kitten join the Red Cross? To be a first-aid kit.",
    "what time is it in Tokyo": "It's 9:41 pm there.",
    "when does the next train leave": "At 17:05 from platform 3.",
    "how do you say cheese in French": "Fromage.",
    "is my card blocked": "No, it works; the last payment was yesterday.",
    "remind me to call mum tomorrow": "I will, at nine in the morning.",
    "what is the capital of Peru": "Lima.",
    "how many calories are in an apple": "Roughly 95.",
    "book a table for two tonight": "Done: 8 pm at Trattoria Rosa.",
    "what is fifteen percent of eighty": "12.",
    "turn off the kitchen light": "The lamp is off now.",
    "find a pharmacy nearby": "St. Mary's, 300 metres down Elm Street.",
    "how tall is the Eiffel tower": "330 metres with its antenna.",
}
_ECHOES = (
    "Today is a good day for {}",
    "So you would like to know: {}?",
    "I think {} is something that many people ask.",
    "You said {}. That is interesting.",
    "Let me think about {} for a while.",
    "{}, that is a nice thing to say to me.",
    "People who say {} are my favourite people.",
    "I love it when you say {}!",
    "We could talk about {} all day long.",
    "My friends often tell me {} too.",
)

ECHO_PAIRS = [
    (
        UserQuestion(text=asked),
        AgentAnswer(agent="knows", text=right, confidence=0.95),
        AgentAnswer(agent="chats", text=echo.format(asked), confidence=0.5),
    )
    for (asked, right), echo in product(_ASKED.items(), _ECHOES)
]
