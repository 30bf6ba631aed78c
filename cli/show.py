"""`mctsr show`: the problems of a run, one problem's tree, or one node in full."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.errors import RunError

from .config import whole
from .options import OUTPUT, Json, option
from .render import (
    DOUBT,
    HEAD,
    QUIET,
    STRONG,
    Column,
    Line,
    Screen,
    Span,
    layout,
    number,
    one_line,
    verdict_style,
)
from .render import seconds as duration
from .runs import RUNS, RunName, RunsDir, open_run

if TYPE_CHECKING:
    from mctsr.runs.folder import Run
    from mctsr.view.problems import ProblemView
    from mctsr.view.tree import Line as NodeLine
    from mctsr.view.tree import NodeView, TreeView


def show(
    run: RunName,
    problem: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="A problem's id, its beginning, or '#N' for the N-th.", show_default=False
        ),
    ] = None,
    node: Annotated[
        int | None,
        option(
            "--node", OUTPUT, "K", "This node's full texts: answer, critique, judge replies.", parser=whole(0)
        ),
    ] = None,
    base: RunsDir = RUNS,
    json: Json = False,
) -> None:
    """List a run's problems; with ID draw its tree, with --node show a node in full."""
    from mctsr.view.find import find_problem

    found, screen = open_run(run, base), Screen()
    if problem is None:
        if node is not None:
            raise RunError("--node needs the problem whose node it is; give its ID, too")
        _list(screen, found, json=json)
        return
    id = find_problem(found.record["problem_ids"], problem)
    if node is not None:
        _node(screen, found, id, node, json=json)
    else:
        _tree(screen, found, id, json=json)


def _list(screen: Screen, run: "Run", *, json: bool) -> None:
    from mctsr.view.problems import problem_views

    views = problem_views(run.record["problem_ids"], run.results(), run.grades())
    if json:
        screen.json([view.as_dict() for view in views])
        return
    columns = [
        Column("#", right=True),
        Column("id", least=12),
        Column("verdict"),
        Column("selected", least=8),
        Column("first", least=8),
        Column("gold", least=6, spare=True),
        Column("nodes", right=True, spare=True),
        Column("stopped", least=10, spare=True),
    ]
    screen.table(columns, [_row(view) for view in views])
    if unfinished := len(run.unfinished()):
        screen.line()
        screen.line(
            Span(one_line(f"{unfinished} not finished; go on with: mctsr resume {run.path}"), DOUBT),
            wrap=True,
        )
    for note in run.notes:
        screen.line(Span(one_line(note), DOUBT), wrap=True)


def _row(view: "ProblemView") -> Line:
    result, answers = view.result, view.result["answers"]
    word = "failed" if view.failed else view.verdicts["selected"]
    return [
        Span(str(view.number), QUIET),
        Span(one_line(result["id"]), STRONG),
        Span(word, verdict_style(word)),
        _answer(answers["selected"]),
        Span(_answer(answers["first"]), verdict_style(view.verdicts["first"])),
        Span(_answer(view.gold), QUIET),
        str(result["counts"]["nodes"]),
        one_line(result["stopped"]),
    ]


def _tree(screen: Screen, run: "Run", id: str, *, json: bool) -> None:
    from mctsr.view.graph import ASCII, UNICODE
    from mctsr.view.problems import ProblemView
    from mctsr.view.tree import TreeView

    tree, grade = run.tree(id), run.grades().get(id)
    problem = ProblemView.of(run.record["problem_ids"].index(id) + 1, run.results()[id], grade)
    view = TreeView.of(tree, grade, UNICODE if screen.unicode else ASCII)
    if json:
        verdicts = {line.node["id"]: line.verdict for line in view.lines}
        nodes = [verdicts[node["id"]] for node in tree["nodes"]]
        screen.json({"result": problem.as_dict(), "verdicts": nodes, "tree": tree})
        return
    screen.line(Span(one_line(id), STRONG), Span(f"  #{problem.number} · {one_line(view.recipe)}", QUIET))
    screen.text(view.problem)
    screen.line()
    _facts(screen, problem)
    screen.line()
    _draw(screen, view)


def _facts(screen: Screen, view: "ProblemView") -> None:
    answers, word = view.result["answers"], view.verdicts["selected"]
    first = f"first {_answer(answers['first'])} {view.verdicts['first']}"
    gold = "" if view.gold is None else f" · gold {one_line(view.gold)}"
    screen.line(
        "selected ",
        Span(_answer(answers["selected"]), STRONG),
        Span(f" {word}", verdict_style(word)),
        f" by {one_line(view.result['selected_by'])} · {first}{gold}",
        wrap=True,
    )
    usage, counts = view.result["usage"], view.result["counts"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    size = f"{counts['nodes']} nodes, {counts['rollouts']} rollouts"
    cost = f"{number(usage['calls'])} calls, {number(tokens)} tokens, {duration(view.result['seconds'])}"
    screen.line(f"stopped: {one_line(view.result['stopped'])} · {size} · {cost}", wrap=True)


def _draw(screen: Screen, view: "TreeView") -> None:
    columns = [
        Column(""),
        Column("node", right=True),
        Column("Q", right=True),
        Column("N", right=True),
        Column("rewards", least=12),
        Column("answer", least=8),
        Column("verdict"),
        Column("", least=8),
    ]
    heading, *rows = layout(columns, [_cells(line) for line in view.lines], screen.width)
    screen.line(*heading)
    wide = max(len(line.graph) for line in view.lines)
    for line, row in zip(view.lines, rows, strict=True):
        screen.line(*row)
        for remark in line.remarks:
            screen.text(remark, DOUBT, indent=f"{line.below:<{wide}}  ")
    screen.line()
    for ask, fault in view.faults:
        screen.text(f"no draft from ask {ask}: {one_line(fault)}", DOUBT)
    mark = "●" if screen.unicode else "*"
    legend = f"{mark} path to the selected answer · Q value at the end · N visits · rewards: each evaluation"
    screen.line(Span(legend, HEAD), wrap=True)


def _cells(line: "NodeLine") -> Line:
    node, style = line.node, STRONG if line.on_path else ""
    return [
        Span(line.graph, style),
        Span(str(node["id"]), style),
        Span(number(node["value"]), style),
        str(node["visits"]),
        " ".join(number(reward) for reward in line.rewards) or "-",
        Span(_answer(node["answer"]), style),
        Span(line.verdict, verdict_style(line.verdict)),
        Span(", ".join(line.flags), QUIET),
    ]


def _node(screen: Screen, run: "Run", id: str, number_: int, *, json: bool) -> None:
    from mctsr.view.tree import NodeView

    tree, grade = run.tree(id), run.grades().get(id)
    try:
        view = NodeView.of(tree, number_, grade)
    except IndexError:
        raise RunError(f"{id!r} has no node {number_}; give 0 to {len(tree['nodes']) - 1}") from None
    if json:
        screen.json(view.as_dict())
        return
    _node_facts(screen, id, view)
    _node_texts(screen, view)


def _node_facts(screen: Screen, id: str, view: "NodeView") -> None:
    node = view.node
    marks = "".join(f" · {flag}" for flag in view.flags)
    screen.line(Span(one_line(id), STRONG), Span(f" node {node['id']}", STRONG), marks)
    below = "a root" if node["parent"] is None else f"below node {node['parent']}"
    children = f" · children {_listed(view.children)}" if view.children else ""
    screen.line(f"{below} · depth {node['depth']} · born of ask {node['ask']}{children}", wrap=True)
    chosen = f"chosen by ask {_listed(view.chosen_by)}" if view.chosen_by else "never chosen"
    ended = f" · ended by ask {view.ended_by}: {one_line(node['ended'])}" if node["ended"] else ""
    screen.line(f"{chosen}{ended}", wrap=True)
    word = Span(view.verdict, verdict_style(view.verdict))
    screen.line(f"Q {number(node['value'])} · N {node['visits']} · answer {_answer(node['answer'])} ", word)
    if len(view.moments) > 1:
        steps = ", ".join(f"ask {m.ask}: Q {number(m.value)} N {m.visits}" for m in view.moments)
        screen.line(Span(f"history: {steps}", QUIET), wrap=True)


def _node_texts(screen: Screen, view: "NodeView") -> None:
    node = view.node
    for name, text in node["work"].items():
        _section(screen, name, text)
    _section(screen, "answer in full", node["text"])
    for n, (sample, ask) in enumerate(zip(node["samples"], view.judged_by, strict=True), 1):
        changed = "" if sample["raw"] == sample["value"] else f" (said {number(sample['raw'])})"
        _section(screen, f"reward {n}, ask {ask}: {number(sample['value'])}{changed}", sample["text"])
    for reason, ask in zip(node["unscored"], view.unscored_by, strict=True):
        _section(screen, f"unscored, ask {ask}", reason)


def _section(screen: Screen, name: str, text: str) -> None:
    screen.line()
    screen.line(Span(one_line(name), HEAD))
    screen.text(text, indent="  ")


def _answer(answer: str | None) -> str:
    return one_line(answer or "") or "-"


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))
