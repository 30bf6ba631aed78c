"""`mctsr show`: the problems of a run, one problem's tree, or one node in full."""

from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.errors import RunError
from mctsr.view.steps import digits
from mctsr.view.words import counted, ending

from .config import whole
from .options import OUTPUT, Json, option
from .runs import RUNS, RunName, RunsDir, open_run
from .screen.node import draw_node, said, section
from .screen.render import (
    DOUBT,
    HEAD,
    PIPED,
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
from .screen.render import seconds as duration

if TYPE_CHECKING:
    from mctsr.runs.folder import Run
    from mctsr.view.problems import ProblemView
    from mctsr.view.tree import Line as NodeLine
    from mctsr.view.tree import TreeView


def show(
    run: RunName,
    problem: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="A problem's id, its beginning, or its number: 3 or '#3' for the third.",
            show_default=False,
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
    from mctsr.view.problems import problem_views, remainder

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
    if views:
        screen.table(columns, [_row(view) for view in views])
    if left := remainder(run):
        if views:
            screen.line()
        screen.line(Span(one_line(left), DOUBT), wrap=True)
    for note in run.notes:
        screen.line(Span(one_line(note), DOUBT), wrap=True)


def _row(view: "ProblemView") -> Line:
    result, answers = view.result, view.result["answers"]
    word = "failed" if view.failed else view.verdicts["selected"]
    return [
        Span(str(view.number), QUIET),
        Span(one_line(result["id"]), STRONG),
        Span(word, verdict_style(word)),
        said(answers["selected"]),
        Span(said(answers["first"]), verdict_style(view.verdicts["first"])),
        Span(said(view.gold), QUIET),
        str(result["counts"]["nodes"]),
        one_line(ending(result["stopped"])),
    ]


def _tree(screen: Screen, run: "Run", id: str, *, json: bool) -> None:
    from mctsr.view.graph import ASCII, UNICODE, fitting
    from mctsr.view.problems import ProblemView
    from mctsr.view.tree import TreeView

    tree, grade = run.tree(id), run.grades().get(id)
    problem = ProblemView.of(run.record["problem_ids"].index(id) + 1, run.results()[id], grade)
    room = PIPED // 4 if screen.width is None else screen.width // 3
    most = fitting(room, len(tree["nodes"]))
    view = TreeView.of(tree, grade, UNICODE if screen.unicode else ASCII, most=most)
    if json:
        verdicts = {line.node["id"]: line.verdict for line in view.lines}
        nodes = [verdicts[node["id"]] for node in tree["nodes"]]
        screen.json({"result": problem.as_dict(), "verdicts": nodes, "tree": tree})
        return
    screen.line(Span(one_line(id), STRONG), Span(f"  #{problem.number} · {one_line(view.recipe)}", QUIET))
    screen.text(view.problem)
    screen.line()
    _facts(screen, problem, view.choice(problem.result["selected_by"]))
    screen.line()
    if view.solution:
        section(screen, f"selected solution, the steps down to node {view.selected}", view.solution.rstrip())
        screen.line()
    _draw(screen, view)


def _facts(screen: Screen, view: "ProblemView", choice: str) -> None:
    answers, word = view.result["answers"], view.verdicts["selected"]
    first = f"first {said(answers['first'])} {view.verdicts['first']}"
    gold = "" if view.gold is None else f" · gold {one_line(view.gold)}"
    screen.line(
        "selected ",
        Span(said(answers["selected"]), STRONG),
        Span(f" {word}", verdict_style(word)),
        f" ({one_line(choice)}) · {first}{gold}",
        wrap=True,
    )
    usage, counts = view.result["usage"], view.result["counts"]
    tokens = counted(usage["prompt_tokens"] + usage["completion_tokens"], "token")
    size = f"{counted(counts['nodes'], 'node')}, {counted(counts['rollouts'], 'rollout')}"
    cost = f"{counted(usage['calls'], 'call')}, {tokens}, {duration(view.result['seconds'])}"
    screen.line(f"stopped: {one_line(ending(view.result['stopped']))} · {size} · {cost}", wrap=True)


def _draw(screen: Screen, view: "TreeView") -> None:
    columns = [
        Column("node"),
        Column("from", right=True),
        Column("Q", right=True),
        Column("N", right=True),
        Column("answer", least=8),
        Column("verdict"),
        Column("", least=8, spare=True),
        Column("rewards", least=12, spare=True),
    ]
    if view.stepwise:
        columns.append(Column("step", least=12))
    laid = layout(columns, [_cells(line, stepwise=view.stepwise) for line in view.lines], screen.width)
    for heading in laid.heading:
        screen.line(*heading)
    for line, (row,) in zip(view.lines, laid.rows, strict=True):
        if line.heads:
            more = "…" if screen.unicode else "..."
            deeper = f"{more} depth {line.node['depth']}, below node {line.node['parent']}"
            screen.line(Span(deeper, HEAD))
        screen.line(*row)
        for remark in line.remarks:
            screen.text(remark, DOUBT, indent=f"{line.below} ")
    screen.left_out(laid)
    screen.line()
    for ask, fault in view.faults:
        screen.text(f"no draft from ask {ask}: {one_line(fault)}", DOUBT)
    mark = "●" if screen.unicode else "*"
    legend = f"{mark} path to the selected answer · from: the parent · Q value at the end · N visits"
    screen.line(Span(f"{legend} · rewards: each evaluation", HEAD), wrap=True)


def _cells(line: "NodeLine", *, stepwise: bool) -> Line:
    node, style, verdict = line.node, STRONG if line.on_path else "", "" if line.on_the_way else line.verdict
    cells: Line = [
        Span(f"{line.graph} {node['id']}", style),
        "-" if node["parent"] is None else str(node["parent"]),
        Span(number(node["value"], digits(node)), style),
        str(node["visits"]),
        Span(said(node["answer"]), style),
        Span(verdict, verdict_style(verdict)),
        Span(", ".join(line.flags), STRONG if line.selected else QUIET),
        " ".join(number(reward, digits(node)) for reward in line.rewards) or "-",
    ]
    return [*cells, Span(one_line(line.news.strip()), style)] if stepwise else cells


def _node(screen: Screen, run: "Run", id: str, number_: int, *, json: bool) -> None:
    from mctsr.view.node import NodeView

    tree, grade = run.tree(id), run.grades().get(id)
    try:
        view = NodeView.of(tree, number_, grade)
    except IndexError:
        raise RunError(f"{id!r} has no node {number_}; give 0 to {len(tree['nodes']) - 1}") from None
    if json:
        screen.json(view.as_dict())
        return
    draw_node(screen, id, view)
