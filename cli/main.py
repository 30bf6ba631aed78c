"""The application: its commands are registered here, and errors become one line and an exit code.

0 done, 1 the run or the server failed, 2 wrong input, 130 Ctrl-C, 141 nobody reads the output any more.
"""

import errno
import os
import sys
from typing import Annotated

import typer

from mctsr.errors import MctsrError, UsageError

from . import config, export, grade, model, recipes, report, resume, runs, show, solve
from .render import talk

FAILED, USAGE, INTERRUPTED, CLOSED = 1, 2, 130, 141

# Every error that Typer itself raises on wrong input derives from this class, whose place differs by version.
_WRONG_INPUT: type[BaseException] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="mctsr",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda token: token.replace("_", "-"),
    },
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"mctsr {version('mctsr')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Tree search for LLM reasoning: solve problems, then read the trees."""


app.command("solve")(solve.solve)
app.command("resume")(resume.resume)
app.command("show")(show.show)
app.command("report")(report.report)
app.command("grade")(grade.grade)
app.command("runs")(runs.runs)
app.command("export")(export.export)
app.command("recipes")(recipes.recipes)
app.add_typer(model.app, name="model")


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        return _run()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.errno == errno.EPIPE:
            return _closed()
        talk(f"error: {error}")
        return FAILED
    except SystemExit as end:
        # Typer turns a closed pipe into an exit of its own.
        if isinstance(end.__context__, BrokenPipeError):
            return _closed()
        raise


def _run() -> int:
    try:
        code = app(standalone_mode=False, prog_name="mctsr")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.Abort:
        return INTERRUPTED
    except MctsrError as error:
        talk(f"error: {error}")
        return USAGE if isinstance(error, UsageError) else FAILED
    except _WRONG_INPUT as error:
        if words := _words(error):
            talk(f"error: {words}")
        return USAGE


def _words(error: BaseException) -> str:
    """Word what Typer found wrong in one line; "" when it has shown the help instead."""
    context, option = getattr(error, "ctx", None), getattr(error, "param", None)
    said = str(getattr(error, "message", error)).removeprefix("Value error, ").strip()
    if context is None:
        return said
    if option is not None and not said and option.param_type_name == "option":
        said = f"give {option.opts[0]} {' or '.join((option.metavar or '').split('|'))}"
    elif option is None or not said:
        said = str(getattr(error, "format_message", lambda: said)()).strip()
    else:
        where = config.origin(context, option.name)
        said = f"{option.opts[0]}{'' if where in ('flag', 'default') else f' (from {where})'}: {said}"
    return f"{said.rstrip('.')}; see {context.command_path} --help" if said else ""


def _closed() -> int:
    # What is still buffered would be written when Python ends, and fail once more.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    return CLOSED
