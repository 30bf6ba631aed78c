"""`mctsr export`: a run as a data set."""

import sys
from typing import Annotated

from mctsr.errors import user_path
from mctsr.view.words import counted

from .options import OUTPUT, Json, option
from .runs import RUNS, RunName, RunsDir, open_run
from .screen.render import Screen, talk

STREAM = "-"


def export(
    run: RunName,
    form: Annotated[
        str,
        option(
            "--format -f",
            OUTPUT,
            "tree|nodes",
            "tree: one row a problem with all its nodes. nodes: one row a node.",
        ),
    ],
    output: Annotated[
        str | None,
        option(
            "--output -o",
            OUTPUT,
            "FILE|-",
            "- is stdout; default: export/<format>.jsonl in the run's folder.",
        ),
    ] = None,
    base: RunsDir = RUNS,
    json: Json = False,
) -> None:
    """Write a run as JSON Lines that datasets.load_dataset("json") reads; prints the path."""
    from mctsr.export.write import write

    found, screen = open_run(run, base), Screen()
    target = sys.stdout.buffer if output == STREAM else user_path(output) if output else None
    written = write(found, form, target)
    talk(counted(written.rows, "tree" if form == "tree" else "node"))
    if written.path is None:
        return
    if json:
        screen.json({"path": str(written.path), "format": form, "rows": written.rows})
    else:
        screen.line(str(written.path))
