"""Whatever JSON can say comes back from both stores as it was given."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.contracts.store import DialogQuery, Store
from prolocutor.dialog import plain
from prolocutor.dialog.agent_state import dialog_to_state
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.stores.sqlite.sqlite_store import MemoryStore, SqliteStore
from prolocutor.testing.sample_turns import a_closing, open_new_turn
from tests.postgresql_server import emptied

OURS = {"utt_id", "text", "orig_text", "active_skill", "confidence", "user", "annotations",
        "hypotheses", "date_time", "attributes"}  # fmt: skip

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False,
    allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
EXTRA = st.dictionaries(TEXT.filter(lambda key: key not in OURS), JSON, max_size=3)
HYPOTHESES = st.lists(
    st.fixed_dictionaries(
        {
            "skill_name": TEXT,
            "annotations": OBJECT,
            "text": TEXT,
            "confidence": st.floats(0, 1),
            "more": JSON,
        }
    ),
    max_size=2,
)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=25, deadline=None)
@given(user=TEXT, text=TEXT, reply=TEXT, annotations=OBJECT, extra=EXTRA, human=EXTRA, bot=EXTRA,
       hypotheses=HYPOTHESES, rating=JSON.filter(lambda value: value is not None))  # fmt: skip
def test_all_that_was_said_comes_back(
    tmp_path_factory: pytest.TempPathFactory, kind: str, **given: Any
) -> None:
    folder = tmp_path_factory.mktemp("round-trip")
    store = (
        MemoryStore() if kind == "memory" else SqliteStore(folder / "d.db", durability="relaxed")
    )
    asyncio.run(round_trip(store, **given))


@settings(max_examples=12, deadline=None)
@given(user=TEXT, text=TEXT, reply=TEXT, annotations=OBJECT, extra=EXTRA, human=EXTRA, bot=EXTRA,
       hypotheses=HYPOTHESES, rating=JSON.filter(lambda value: value is not None))  # fmt: skip
def test_all_that_was_said_comes_back_from_postgresql(worker_database: str, **given: Any) -> None:
    async def on_nothing() -> None:
        await emptied(worker_database)
        await round_trip(PostgresqlStore(worker_database, durability="relaxed"), **given)

    asyncio.run(on_nothing())


async def round_trip(
    store: Store, *, user: str, text: str, reply: str, annotations: dict[str, Any],
    extra: dict[str, Any], human: dict[str, Any], bot: dict[str, Any], hypotheses: list[Any],
    rating: Any,
) -> None:  # fmt: skip
    await store.open()
    opened = await open_new_turn(store, user, text)
    ending = a_closing(opened, reply, annotations=annotations, extra=extra, hypotheses=hypotheses,
                       human_attributes=human, bot_attributes=bot)  # fmt: skip
    await store.close_turn(ending)
    if not isinstance(store, MemoryStore):
        await store.aclose()
        await store.open()

    after = await open_new_turn(store, user, window=2, hypotheses=1)
    await store.rate_dialog(opened.dialog_id, rating, user, "")
    dialog = await store.dialog(opened.dialog_id)
    assert dialog is not None
    states = dialog_to_state(dialog)["utterances"]
    found = await store.dialog_ids(DialogQuery(user=user, rating=rating))
    feed = await store.feed(user, 0)
    await store.aclose()

    question, answer = (plain.decode(utterance.body) for utterance in ending.utterances)
    assert ending.human is not None
    assert ending.bot is not None
    question |= {"user": plain.decode(ending.human.state), "hypotheses": hypotheses}
    answer |= {"user": plain.decode(ending.bot.state)}
    assert [plain.decode(utterance.state) for utterance in after.window] == [question, answer]
    assert states == [question, answer]
    assert dialog.rating == rating
    assert found == [opened.dialog_id]
    assert [row.message for row in feed[:2]] == [opened.opening.message, *ending.messages]
