"""`mctsr model`: the model that runs on this machine without a server."""

import typer

from .options import Json
from .screen.render import Column, Screen, number, talk

app = typer.Typer(no_args_is_help=True, help="Get and list the model that needs no server.")


@app.command("get")
def get(json: Json = False) -> None:
    """Fetch the default model once (93 MB) and print its path; --model embedded then uses it."""
    from mctsr.lm.local.gguf import fetch_default, list_models

    if not list_models():
        talk("fetching the default model (93 MB, once)")
    path = fetch_default()
    screen = Screen()
    if json:
        screen.json({"name": "embedded", "path": str(path), "bytes": path.stat().st_size})
    else:
        screen.line(str(path))


@app.command("list")
def list_(json: Json = False) -> None:
    """List the models on this machine; any other .gguf file can be given to --model by its path."""
    from mctsr.lm.local.gguf import list_models

    found = list_models()
    screen = Screen()
    if json:
        screen.json([{"name": m.name, "path": str(m.path), "bytes": m.bytes} for m in found])
    elif found:
        columns = [Column("--model"), Column("MB", right=True), Column("file", least=20, folds=True)]
        screen.table(columns, [[m.name, number(m.bytes / 1e6, 0), str(m.path)] for m in found])
    else:
        talk("no model on this machine; fetch the default one with: mctsr model get")
