"""What the agents say in English, as patterns with placeholders: the keys of the catalogues.

A placeholder is named after the kind of what it holds: `{n}` a number, `{quantity}` numbers with
units, `{money}`, `{date}`, `{time}`, `{span}` days and weeks, `{country}`, `{countries}` a list,
`{place}`, `{languages}`, `{people}` a round number of people, `{weekday}`, `{text}` anything. A
digit tells two of a kind apart.
"""

ENGLISH_ONLY = "I can say that in English only:"
JOKES_ENGLISH_ONLY = 'I know jokes in English only. Say "tell me a joke", and I tell one.'

MESSAGES = (
    "{n}% of {n2} = {n3}",
    "Nothing can be divided by zero, sorry: there is no such number.",
    "That number is too big for me to write down.",
    "{n} minus {n2}% is {n3}.",
    "{n} plus {n2}% is {n3}.",
    "Yes, {n} is a prime number.",
    "No, {n} is not a prime number.",
    "{quantity} = {quantity2}",
    "It is {time}.",
    "In {place} it is {time} on {date}.",
    "Today is {date}.",
    "Tomorrow is {date}.",
    "Yesterday was {date}.",
    "It is the year {year}.",
    "It is week {n} of {year}.",
    "It is {month} {year}.",
    "{date} was a {weekday}.",
    "{date} is a {weekday}.",
    "Yes, {year} is a leap year.",
    "No, {year} is not a leap year.",
    "{span} until {date}.",
    "{span} since {date}.",
    "{span} from today is {date}.",
    "{span} ago is {date}.",
    "{span} from {date} to {date2}.",
    "Somebody born on {date} is {span} old now.",
    "Somebody born in {year} turns {n} in {year2}.",
    "{money} = {money2}, at the European Central Bank's reference rates of {date}.",
    "The capital of {country} is {city}.",
    "{country} has {people} ({year} figures).",
    "{country} has an area of {n} square kilometres.",
    "The currency of {country} is the {currency} ({text}).",
    "Official or main language of {country}: {languages}.",
    "Official or main languages of {country}: {languages}.",
    "{country} borders 1 country: {countries}.",
    "{country} borders {n} countries: {countries}.",
    "{country} has no land border with another country.",
    "{country} is in {country2}.",
    "The calling code of {country} is {text}.",
    "The flag of {country}: {text}",
    "Hello! What can I do for you?",
    "Hello again! I am listening.",
    "Hi! Ask me anything.",
    "Good morning! What can I do for you?",
    "Good day! What can I do for you?",
    "Good evening! What can I do for you?",
    "I am well, thank you: all my agents are awake. And you?",
    "Still well, thank you. And how are you?",
    "You are welcome.",
    "With pleasure.",
    "Any time.",
    "Goodbye! Come back whenever you like.",
    "See you soon!",
    "Until next time!",
    "I am Prolocutor: one assistant who speaks for many agents.",
    "I am a program, not a person. But I listen well.",
    "Younger than I sound: I start anew whenever somebody starts me.",
    "I live on the machine that runs me.",
    "People who like small agents that work together made me.",
    (
        "I calculate and convert, know times, dates, countries, holidays and words, keep your todo"
        " list and timers, toss coins and tell jokes. What do you need?"
    ),
    "All right. What else can I do for you?",
    "All right, I leave it at that. What else can I do for you?",
    "Good to hear. What shall we do?",
    "I am glad. What is next?",
    "I am sorry. Tell me what you need in other words, and I try again.",
    "I am sorry to hear that. I shall do better.",
    "I am sorry to hear that. If you like, tell me about it.",
    "That sounds hard. I am listening.",
    "Nice to meet you, {text}. I shall remember that.",
    "You are {text}.",
    "You have not told me your name yet.",
    "I am flattered; let us stay good friends.",
    "That is kind of you.",
    "Thank you, I pass it on to my agents.",
    "You make it easy.",
    "English is the language that I know best.",
    (
        "I do not know that. I calculate, convert units and money, tell times, dates and public"
        " holidays, look up words and countries, keep your todo list and timers, flip coins and"
        " roll dice, tell jokes, and chat."
    ),
    ENGLISH_ONLY,
    JOKES_ENGLISH_ONLY,
)
