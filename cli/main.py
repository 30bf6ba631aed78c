"""The application: its commands are registered here, and errors become one line and an exit code.

0 done, 1 the run or the server failed, 2 wrong input, 130 Ctrl-C, 141 nobody reads the output any more, 143 SIGTERM.
Nothing but the standard library is loaded before Ctrl-C is caught. A stream that is closed counts as /dev/null.
"""

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Annotated, TextIO

from mctsr.errors import MctsrError, UsageError, brief, short

if TYPE_CHECKING:
    import typer

FAILED, USAGE, INTERRUPTED, CLOSED = 1, 2, 130, 141

_ADVICE = {
    errno.ENOSPC: "free some space, then go on with mctsr resume or try again",
    errno.EDQUOT: "free some space, then go on with mctsr resume or try again",
    errno.EROFS: "give another place, this one is read-only",
    errno.EACCES: "ask for the right to use it, or give another place",
    errno.EPERM: "ask for the right to use it, or give another place",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ENOTDIR: "a part of it is a file; give a path through folders",
    errno.EISDIR: "give a file",
    errno.ELOOP: "give a path without a circle of links",
    errno.EMFILE: "raise the limit on open files (ulimit -n), or lower --max-concurrency",
}
_MISNAMED = {errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP}


def application() -> "typer.Typer":
    """Make the application with all its commands."""
    import typer

    from . import compare, data, doctor, export, grade, model, recipes, report, runs, show, solve

    app = typer.Typer(
        name="mctsr",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": lambda token: token.replace("_", "-"),
        },
    )
    shows = typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")

    @app.callback()
    def root(version: Annotated[bool, shows] = False) -> None:
        """Tree search for LLM reasoning: solve problems, then read the trees."""

    app.command("solve")(solve.solve)
    app.command("resume")(runs.resume)
    app.command("show")(show.show)
    app.command("report")(report.report)
    app.command("compare")(compare.compare)
    app.command("grade")(grade.grade)
    app.command("runs")(runs.runs)
    app.command("export")(export.export)
    app.command("data")(data.data)
    app.command("doctor")(doctor.doctor)
    app.command("recipes")(recipes.recipes)
    app.add_typer(model.app, name="model")
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        import typer

        typer.echo(f"mctsr {version('mctsr')}")
        raise typer.Exit


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        _open_closed_streams()
        return _ended()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _let_go()


def _ended() -> int:
    try:
        return _run()
    except OSError as error:
        if error.errno == errno.EPIPE:
            return CLOSED
        _say_error(_reason(error))
        return USAGE if error.errno in _MISNAMED and error.filename else FAILED
    except SystemExit as end:
        # Typer turns a closed pipe into an exit of its own.
        if isinstance(end.__context__, BrokenPipeError):
            return CLOSED
        raise


def _run() -> int:
    import typer

    # Every error that Typer itself raises on wrong input derives from this class, whose place differs by version.
    wrong_input: type[BaseException] = typer.BadParameter.__mro__[2]
    try:
        code = application()(standalone_mode=False, prog_name="mctsr")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.Abort:
        return INTERRUPTED
    except MctsrError as error:
        _say_error(str(error))
        return USAGE if isinstance(error, UsageError) else FAILED
    except wrong_input as error:
        if words := _words(error):
            _say_error(words)
        return USAGE


def _say_error(words: str) -> None:
    from .screen.render import one_line, talk

    talk(f"error: {brief(one_line(words))}")


def _words(error: BaseException) -> str:
    """Word what Typer found wrong in one line; "" when it has shown the help instead."""
    from .config import origin

    context, option = getattr(error, "ctx", None), getattr(error, "param", None)
    said = str(getattr(error, "message", error)).removeprefix("Value error, ").strip()
    if context is None:
        return said
    if option is not None and not said and option.param_type_name == "option":
        said = f"give {option.opts[0]} {' or '.join((option.metavar or '').split('|'))}"
    elif option is None or not said:
        said = str(getattr(error, "format_message", lambda: said)()).strip()
    else:
        where = origin(context, option.name)
        said = f"{option.opts[0]}{'' if where in ('flag', 'default') else f' (from {where})'}: {said}"
    return f"{brief(said).rstrip('.')}; see {context.command_path} --help" if said else ""


def _reason(error: OSError) -> str:
    """Say what the system refused, why, and what can be done; words that are there already stay."""
    if error.strerror is None:
        return str(error) or type(error).__name__
    # A run's own files are worded where they are written; what is left without a name is a stream.
    what = "the output" if error.filename is None else short(os.fsdecode(error.filename))
    advice = _ADVICE.get(error.errno or 0, "check it and try again")
    return f"{what}: {error.strerror.lower()}; {advice}"


def _open_closed_streams() -> None:
    """Open what the caller closed: else the next file that is opened would be taken for a stream."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = _stream(1)
    if sys.stderr is None:
        sys.stderr = _stream(2)


def _stream(number: int) -> TextIO:
    return io.TextIOWrapper(io.BufferedWriter(io.FileIO(number, "w", closefd=False)), encoding="utf-8")


def _let_go() -> None:
    """Give up what a broken stream still holds: Python would try to write it when it ends, and say so."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
