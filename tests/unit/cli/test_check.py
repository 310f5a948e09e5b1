import io
from pathlib import Path

from rich.console import Console

from prolocutor.cli.check import show
from prolocutor.config.file_check import check

PLAN = """
name: Small
processes:
  far: {run: "{python} -m far --port {port}"}
annotators:
  quick: json:loads
skills:
  near: {call: json:loads, after: [], timeout: 5}
  far: {call: {process: far}, requires: [quick]}
"""


def test_the_plan_is_a_tree_of_levels_with_its_critical_path(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text(PLAN)
    seen = io.StringIO()

    show(check(file), Console(file=seen, width=120))

    lines = seen.getvalue().splitlines()
    assert lines[0] == "Small: 3 services, replies within 5 s"
    assert "├── level 1" in lines
    assert any("near *  5 s  skills  json:loads" in line for line in lines)
    assert any("far  2 s  skills  process far/  needs quick" in line for line in lines)
    assert any(line.startswith("critical path (*): 5 s of time-outs: near") for line in lines)
