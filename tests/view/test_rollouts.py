"""Trees of whole solutions and their beginnings: each line says what is new in it."""

from pathlib import Path

from mctsr.view.steps import news_of
from tests.support.rollout_story import words
from tests.support.sample_run import command
from tests.support.step_run import root, step, sum_nodes
from tests.test_export_labels import omega


async def test_a_solution_says_what_follows_its_beginning_and_a_beginning_its_last_step(
    tmp_path: Path,
) -> None:
    run = await omega(tmp_path, problems=("mixed",))
    nodes = run.tree("mixed")["nodes"]
    news = [words(news_of(nodes, node)) for node in range(len(nodes))]
    assert news[:5] == ["", "add buy =7", "add cut dig eat =3", "buy =3", "add buy =7"]
    below = [node["id"] for node in nodes if node["parent"] == 2]
    assert [news[node] for node in below] == ["add", "cut", "dig", "eat"]
    state = next(node["id"] for node in nodes if words(node["text"]) == "add cut" and node.get("step"))
    assert [news[node["id"]] for node in nodes if node["parent"] == state] == [
        "=7",
        "fix get =9",
        "=3",
        "fix get =9",
    ]
    said = command("show", str(run.path), "mixed")
    assert said.code == 0
    assert "ended: first error in step 3" in said.out


def test_steps_and_answers_say_all_of_theirs() -> None:
    nodes = sum_nodes()
    assert [news_of(nodes, node["id"]) for node in nodes] == [node["text"] for node in nodes]
    twice = [root(), step(1, 0, "a\n", 0.5), step(2, 1, "a\na\n", 0.5)]
    assert news_of(twice, 2) == "a\na\n"
