"""Cards and labels of a few agents, made for tests."""

from prolocutor.contracts.pairing import Card, LabelledQuestion, UserQuestion

CARDS = [
    Card(
        name="weather",
        description="Tells the weather forecast of any city. Knows rain, sun, and temperature.",
        examples=["what's the weather in New York", "will it rain tomorrow"],
    ),
    Card(
        name="music",
        description="Plays songs, albums and radio stations.",
        examples=["play some jazz", "play the next song"],
    ),
    Card(
        name="bank",
        description="Handles transfers, balances and credit cards.",
        examples=["what is the balance of my account", "transfer money to Ann"],
    ),
]

_TEXTS = {
    "weather": [
        "what's the weather in Boston", "will it rain in Seattle", "is it sunny today",
        "temperature in Paris", "do I need an umbrella", "weather forecast for Monday",
    ],
    "music": [
        "play a song by Adele", "put on some rock music", "play jazz", "next song please",
        "play my album", "turn up the radio",
    ],
    "bank": [
        "what is my balance", "transfer fifty dollars to Bob", "pay my credit card",
        "how much money is in my account", "is my card blocked", "when is my payment due",
    ],
}  # fmt: skip

LABELLED = [
    LabelledQuestion(question=UserQuestion(text=text), agents={agent: 1.0}, gold=frozenset({agent}))
    for agent, texts in _TEXTS.items()
    for text in texts
]
