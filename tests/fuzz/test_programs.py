"""Programs of any text and any tokens, at the door and in conversation: none holds the server."""

import asyncio
import random
from typing import Any

import aiohttp

from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor_demo import demonstration
from tests.fuzz.odd_values import TEXTS, odd_value
from tests.fuzz.rounds import patience, rounds
from tests.fuzz.served import served

WHOLE = [
    "now => @org.prolocutor.gadgets.all() => notify;",
    'monitor(@com.twitter.home_timeline()) filter text =~ "x" => @com.twitter.post(status=text);',
    "timer(base=$now, interval=1h);",
    "attimer(time=[new Time(8,30), $time.morning]) => @a.b.c(x=1km+2m, y=$?);",
    "sort(count desc of @a.b.c() filter (x >= 5 && y == enum(a) || !(z in_array [1, 2])))[1:3];",
    '@a.b(name="n", id="i"^^tt:device_id("d")).c(x=new Location(1.0, -2.5, "here"));',
    "class @a.b { list query all(out s : String); action do(in req n : Number); }",
    "let x = count(@a.b.c()); x; $yes; $no; bookkeeping(special(help));",
    '[a, b] of @a.b.c(), d == "e";',
]
MARKS = [
    *"()[]{}=<>!&|;,.:$@\"'\\^~+-*/%#? \n\t0",
    *"=> ^^ =~ && || now monitor filter in_array enum( new Date( edge join $? /* // 1e9 0x".split(),
    *("\x00", "\u2028", "é", "🦜", "a" * 300),
]
CONDITIONS = [
    ("(", "x == 1", ")"),
    ("!(", "x == 1", ")"),
    ("x == 1 && ", "", ""),
    ('x == 1 || y =~ "a" && ', "", ""),
    ("(x == 1 || ", "y == 2", ")"),
    ("x in_array [1, 2] && ", "", ""),
    ("(x == 1 && (y == 2 || ", "z == 3", "))"),
]
VALUES = [("[", "1", "]"), ("1km+", "", ""), ("[1, 2, ", "3", "]"), ("{a=", "1", "}")]
QUERIES = [
    ("(", "@a.b.c()", ")"),
    ("sort(a asc of ", "@a.b.c()", ")"),
    ("(sort(a desc of (", "@a.b.c()", ")))"),
    ("([a, b] of (", "@a.b.c()", "))"),
    ("(monitor(", "@a.b.c()", "))"),
    ("count(", "@a.b.c()", ")"),
    ("(", "@a.b.c()", " filter x == 1)"),
    ("(", "@a.b.c()", " join @a.b.c())"),
    ("(", "@a.b.c()", ")[1]"),
]
FORMS = [
    *((condition, "now => @a.b.c() filter _ => notify;") for condition in CONDITIONS),
    *((condition, "@a.b.c() filter _;") for condition in CONDITIONS),
    *((value, "@a.b.c(x=_);") for value in VALUES),
    *((value, "@a.b.c() filter x == _;") for value in VALUES),
    *((query, "_;") for query in QUERIES),
    *((query, "now => _ => notify;") for query in QUERIES),
    (("@a.b.c(x=1);\n", "", ""), "_"),
    (("x=1, ", "", ""), "@a.b.c(_);"),
    (("let x = @a.b.c();", "", ""), "_"),
    (("class @a.b { list query c(out x : String); }\n", "", ""), "_"),
    (("// comment\n", "", ""), "_ @a.b.c();"),
]
"""What a program can be made long or deep by, and around what."""

TOKENS = """
    now => monitor ( @com.twitter.home_timeline ) notify ; $yes bookkeeping special special:help
    param:text:String = " QUOTED_STRING_0 NUMBER_0 SLOT_0 GENERIC_ENTITY_tt:url_0 == && || { } [ ,
    edge on new filter timer base interval unit:h 5 null @a.b.c location:current_location $?
    ^^tt:url
""".split()


def grown(chance: random.Random, most: int) -> str:
    """Return a program without a fault that is nested or long, of about so many characters."""
    (opening, inner, closing), form = chance.choice(FORMS)
    number = most // len(opening + closing)
    body = opening * number + inner + closing * number
    for joint in (" && ", ", ", "+"):
        body = body.removesuffix(joint)
    return form.replace("_", body)


def program(chance: random.Random) -> str:
    """Return a program with pieces cut out, put in and repeated, or one that is nested deeply."""
    if chance.random() < 0.4:
        return grown(chance, chance.choice([50, 400, 900, 900, 900, 4_000, 30_000]))
    text = chance.choice(WHOLE)
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        at = chance.randrange(len(text) + 1)
        piece = chance.choice([chance.choice(MARKS), chance.choice(WHOLE)[: chance.randrange(60)]])
        piece *= chance.choice([1, 1, 1, 12, 60])
        text = text[:at] + piece + text[at + chance.randrange(8) :]
    return text[: chance.choice([990, 990, 9_000, 70_000])]


def command(chance: random.Random) -> Any:
    """Return a command of a conversation: words, a program, or tokens."""
    match chance.randrange(4):
        case 0:
            return {"type": "tt", "code": program(chance)}
        case 1:
            text = chance.choice(["\\t ", "\\r ", ""]) + chance.choice([program(chance), *TEXTS])
            return {"type": "command", "text": text}
        case 2:
            code = [chance.choice(TOKENS) for _ in range(chance.choice([3, 10, 60, 400]))]
            entities = {"NUMBER_0": odd_value(chance), "QUOTED_STRING_0": odd_value(chance)}
            return {"type": "parsed", "json": {"code": code, "entities": entities}}
    return odd_value(chance)


async def test_no_program_is_an_error_of_the_server_or_holds_it() -> None:
    skills = Pipeline(skills=[Service("demonstration", demonstration.answer)])
    broken = []
    async with (
        asyncio.timeout(patience()),
        served(skills, ("almond", "deeppavlov")) as it,
        aiohttp.ClientSession(it.url) as http,
    ):
        for number, chance in enumerate(rounds(15)):
            for path, body in (
                ("/api/apps/create", {"code": program(chance)}),
                ("/api/converse", {"command": command(chance), "conversationId": f"c{number % 9}"}),
            ):
                it.watch.doing = f"{path} {body}"
                try:
                    async with http.post(path, json=body) as response:
                        text = await response.text()
                except (ValueError, aiohttp.ClientError):
                    continue
                if response.status == 500:
                    broken.append((body, text))
            if number % 10 == 0:
                async with http.get("/api/apps/list") as response:
                    for app in await response.json():
                        await http.post(f"/api/apps/delete/{app['uniqueId']}", json={})
        async with http.get("/health/live") as response:
            assert response.status == 200
    assert broken == []
