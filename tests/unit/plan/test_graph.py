"""A plan becomes a graph, or a refusal that names the fault."""

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plan.graph import Graph, compile_graph
from prolocutor.plan.pipeline import Canary, Pipeline, Service
from tests.unit.pipeline.talk import says, skill


def service(name: str, **options: object) -> Service:
    return Service(name, lambda request: None, **options)  # type: ignore[arg-type]


def whole() -> Pipeline:
    return Pipeline(
        annotators=[service("a"), service("b", after=["a"])],
        skill_selector=service("selector"),
        skills=[service("s"), service("t", timeout=9.0)],
        candidate_annotators=[service("c")],
        response_selector=service("r"),
        postprocessors=[service("p"), service("q")],
        response_annotators=[service("z")],
    )


def names(graph: Graph) -> list[list[str]]:
    return [[node.name for node in level] for level in graph.levels()]


def test_levels_follow_the_stages() -> None:
    assert names(compile_graph(whole())) == [
        ["a"], ["b"], ["selector"], ["s", "t"], ["c"], ["r"], ["p"], ["q"], ["z"]
    ]  # fmt: skip


def test_the_critical_path_is_the_one_whose_time_outs_add_up_to_most() -> None:
    path = [node.name for node in compile_graph(whole()).critical_path()]
    assert path == ["a", "b", "selector", "t", "c", "r", "p", "q", "z"]


def test_a_node_is_placed_after_all_that_it_waits_for() -> None:
    graph = compile_graph(whole())
    for node in graph.nodes:
        assert all(other.index < node.index for other in node.before)


@pytest.mark.parametrize(
    ("pipeline", "fault"),
    [
        (
            Pipeline(skills=[says("chat", None, after=["annotater"])]),
            "no service or stage is called 'annotater'; did you mean 'annotators'?",
        ),
        (
            Pipeline(skills=[says("chat", None, requires=["chat"])]),
            "skills.chat.requires: 'chat' cannot wait for itself",
        ),
        (
            Pipeline(skills=[says("a", None, after=["b"]), says("b", None, after=["a"])]),
            "skills.a.after: a circle: a waits for b waits for a",
        ),
        (
            Pipeline(annotators=[says("a", None, after=["skills"])], skills=[skill()]),
            "a circle: a waits for chat waits for a",
        ),
        (
            Pipeline(skills=[says("a", 0, timeout=0)]),
            "a.timeout: expected a number above 0, found 0",
        ),
        (
            Pipeline(skills=[says("a", 0, window=0)]),
            "a.window: expected a whole number of at least 1, or all",
        ),
        (
            Pipeline(skills=[says("a", 0, batch_size=0)]),
            "a.batch_size: expected a whole number of at least 1",
        ),
        (
            Pipeline(skills=[says("a", 0, max_in_flight=0)]),
            "a.max_in_flight: expected a whole number of at least 1",
        ),
        (
            Pipeline(skills=[skill(), says("a", 0, canary=Canary(instead_of="chat", share=2))]),
            "a.canary.share: expected a number of at most 1",
        ),
        (
            Pipeline(skills=[says("a", 0, retries=-1)]),
            "a.retries: expected a whole number of at least 0",
        ),
    ],
)
def test_an_impossible_graph_is_refused_with_its_place(pipeline: Pipeline, fault: str) -> None:
    with pytest.raises(ConfigError) as refused:
        compile_graph(pipeline)
    assert fault in str(refused.value)


def test_a_name_that_two_stages_share_has_to_be_told_apart() -> None:
    shared = {"annotators": [service("x")], "candidate_annotators": [service("x")]}
    for name in ("x", "annotators.x"):
        pipeline = Pipeline(
            skills=[skill()], response_selector=service("r", after=[name]), **shared
        )
        if name == "x":
            with pytest.raises(ConfigError, match=r"annotators\.x or candidate_annotators\.x"):
                compile_graph(pipeline)
        else:
            [r] = [node for node in compile_graph(pipeline).nodes if node.name == "r"]
            assert [node.path for node in r.before] == ["annotators.x", "skills.chat"]


def test_a_timeout_that_is_no_number_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"a\.timeout"):
        compile_graph(Pipeline(skills=[says("a", 0, timeout=float("nan"))]))
