"""The labels of operators, and what is left of them when a person is deleted."""

from pathlib import Path

from prolocutor import Assistant, Pipeline
from prolocutor.assistant.operator_desk import LabelledTurn, OperatorLabel
from prolocutor.cli.owner import DirectChanges
from tests.unit.assistant.talks import echo


def label(id_: str, *users: str) -> OperatorLabel:
    turns = [LabelledTurn(utt_id=f"{id_} {user}", user=user, text=f"by {user}") for user in users]
    return OperatorLabel(id=id_, at=1.0, by="eve", agents=["echo"], turns=turns)


async def test_no_label_has_words_of_a_deleted_person(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'd.db'}"
    async with Assistant(Pipeline(skills=[echo()]), store=url) as it:
        for user in ("ann", "bob"):
            await it.reply("hello", user=user)
        for one in (label("1", "ann", "bob"), label("2", "ann"), label("3", "bob")):
            await it.labels.add(one)
        await it.archive.delete_person("ann")
        left = {one.id: [turn.user for turn in one.turns] for one in await it.labels.all_labels()}
        await DirectChanges(it.store).delete_person("bob")

        assert left == {"1": ["bob"], "3": ["bob"]}
        assert await it.labels.all_labels() == []


async def test_a_record_that_is_no_label_is_left_out() -> None:
    async with Assistant(Pipeline(skills=[echo()]), store="memory:") as it:
        await it.labels.add(label("1", "ann"))
        await it.store.put_record("", "label", "2", b'{"id": 3}')

        assert [one.id for one in await it.labels.all_labels()] == ["1"]
