"""Whatever several clients say, drop and take up again: each sees every message once, in order."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.assistant.runner import run
from tests.plugins.almond.integration.any_clients import FRAMES, Person, finish
from tests.plugins.almond.integration.wire import client, demonstrated

ASIDE: list[dict[str, Any]] = [
    {"type": "command", "text": "  "},
    {"type": "dance"},
    {"type": "ping"},
]
CLIENTS = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), CLIENTS, st.sampled_from(FRAMES)),
        st.tuples(st.just("say"), CLIENTS, st.sampled_from(ASIDE)),
        st.tuples(st.just("drop"), CLIENTS, st.none()),
    ),
    max_size=12,
)


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_every_client_sees_every_message_once_and_in_order(steps: list[Any]) -> None:
    run(play(steps))


async def play(steps: list[Any]) -> None:
    async with demonstrated() as door, client(door) as witness:
        people = [Person(door) for _ in range(3)]
        for what, who, frame in steps:
            if what == "drop":
                await people[who].drop()
            else:
                await (await people[who].socket()).send(**frame)
        await finish(people)
        rows = await door.assistant.store.feed("almond:local", 0, 1000)
        closings = [row.n for row in rows if row.closing is not None]
        await witness.until_asked()
        turns = [await witness.until_asked() for _ in closings]
        rest = await witness.say("")

    said = [row.id for row in rows if row.message is not None]
    assert said == list(range(len(said)))
    assert [[frame["id"] for frame in person.seen] for person in people] == [said] * 3
    assert witness.ids == said
    assert [turn[0]["type"] for turn in turns] == ["command"] * len(closings)
    assert [frame["type"] for frame in rest] == ["askSpecial"]
    commands = [row.n for row in rows if row.message and b'"type":"command"' in row.message]
    assert len(closings) == len(commands)
