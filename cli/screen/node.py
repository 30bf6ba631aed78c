"""One node on the screen, with everything that is known of it."""

from typing import TYPE_CHECKING

from .render import HEAD, QUIET, STRONG, Screen, Span, one_line, verdict_style

if TYPE_CHECKING:
    from mctsr.view.node import NodeView


def draw_node(screen: Screen, id: str, view: "NodeView") -> None:
    """Print the facts of a node of problem `id`, and then every text about it under a heading."""
    _facts(screen, id, view)
    for name, text in view.texts:
        screen.line()
        section(screen, name, text)
    for heading, sample in zip(view.rewards, view.node["samples"], strict=True):
        screen.line()
        section(screen, heading, sample["text"])
    for reason, ask in zip(view.node["unscored"], view.unscored_by, strict=True):
        screen.line()
        section(screen, f"unscored, ask {ask}", reason)


def section(screen: Screen, name: str, text: str) -> None:
    """Print a text under its heading."""
    screen.line(Span(one_line(name), HEAD))
    screen.text(text, indent="  ")


def said(answer: str | None) -> str:
    """Write an answer on one line; "-" for none."""
    return one_line(answer or "") or "-"


def _facts(screen: Screen, id: str, view: "NodeView") -> None:
    node = view.node
    marks = "".join(f" · {flag}" for flag in view.flags)
    screen.line(Span(one_line(id), STRONG), Span(f" node {node['id']}", STRONG), marks)
    screen.line(one_line(view.place), wrap=True)
    screen.line(one_line(view.fate), wrap=True)
    numbers = f"Q {view.value(node['value'])} · N {node['visits']}"
    if view.on_the_way:
        screen.line(numbers)
    else:
        word = Span(view.verdict, verdict_style(view.verdict))
        screen.line(f"{numbers} · answer {said(node['answer'])} ", word)
    if view.why:
        screen.line(Span(f"graded: {one_line(view.why)}", QUIET), wrap=True)
    if len(view.moments) > 1:
        steps = ", ".join(f"ask {m.ask}: Q {view.value(m.value)} N {m.visits}" for m in view.moments)
        screen.line(Span(f"history: {steps}", QUIET), wrap=True)
