"""A fourth agent joins three that a router was trained for: it is asked, learned, forgotten."""

from pathlib import Path

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.pairing import Card
from prolocutor.plugins.pairing.model_files import save_model
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from tests.plugins.pairing.integration.agents import Agent, assistant_of, record, turn

SUBJECTS = {
    "rain": ["will it rain", "is it sunny", "how cold is it", "storm or sun"],
    "songs": ["play a song", "some jazz please", "the next album", "turn up the radio"],
    "money": ["my balance please", "send ten dollars", "pay my bill", "open an account"],
}
KNOWN = [Card(name=name, description=f"Knows {name}.") for name in SUBJECTS]
CHESS = ("open with the queen", "castle on the king side", "a knight takes the pawn")
EXPERTS = {text: name for name, texts in SUBJECTS.items() for text in texts}
YAML = (
    "skill_selector: {router: learned, model: model, budget: {policy: sure, start: 1}}\n"
    "response_selector: {ranker: unsupervised}\n"
)


def trained(folder: Path) -> None:
    router = LearnedRouter(KNOWN)
    router.learn_all(
        RouterLabel(text, {name: 1.0})
        for name, texts in SUBJECTS.items()
        for text in (*texts, *(f"{text} {number}" for number in range(9) for text in texts))
    )
    save_model(folder / "model", router.to_model())


def agents() -> dict[str, Agent]:
    known = {
        name: Agent(f"I can tell you about {name}.", card={"description": f"Knows {name}."})
        for name in SUBJECTS
    }
    chess = Agent(
        "The queen takes the pawn and the knight guards the king.",
        card={"description": "Helps with a game."},
    )
    return {**known, "chess": chess}


async def asked_first(assistant: Assistant, text: str, user: str) -> list[str]:
    """Return whom the router has asked at once."""
    return list(record(await turn(assistant, text, user=user)).reasons[0]["asked"])


async def rate(assistant: Assistant, text: str, user: str) -> None:
    found = await turn(assistant, text, user=user)
    right = found.reply.active_skill == EXPERTS.get(text, "chess")
    await assistant.archive.rate(found.reply.utt_id, 1 if right else -1, user)


async def test_a_new_agent_gets_its_questions_by_thumbs_that_go_with_who_gave_them(
    tmp_path: Path,
) -> None:
    trained(tmp_path)
    store = f"sqlite:///{tmp_path}/d.db"
    async with assistant_of(tmp_path, agents(), YAML, store) as assistant:
        for text in (*CHESS, *(texts[0] for texts in SUBJECTS.values())) * 2:
            await rate(assistant, text, "ann")
        taught = await asked_first(assistant, CHESS[1], "bob")
        settled = await asked_first(assistant, "will it rain", "bob")

    assert taught == ["chess"]
    assert settled == ["rain"]

    async with assistant_of(tmp_path, agents(), YAML, store) as assistant:
        assert await asked_first(assistant, CHESS[1], "cid") == ["chess"]
        await assistant.archive.delete_person("ann")
        assert await assistant.store.rating_count() == 0
