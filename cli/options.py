"""The options that commands share: names, variables, allowed values, help.

Knows: how a value is spelt on the command line. Does not know: what it is used for.
Every option can also be given as a variable, MCTSR_ and its name; an empty variable counts as unset.
"""

import json
import math
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from .config import load

SERVER, SAMPLING, DATA, LIMITS, RUN, OUTPUT = (
    "Server",
    "Sampling",
    "Problems",
    "Limits",
    "Run",
    "Output",
)


class Display(StrEnum):
    """What is shown while a run is going on."""

    AUTO = "auto"
    RICH = "rich"
    PLAIN = "plain"
    NONE = "none"


def whole(least: int | None = None) -> Callable[[object], int]:
    """Make a reader of whole numbers, `least` or more."""
    allowed = "a whole number" + ("" if least is None else f", {least} or more")

    def read(given: object) -> int:
        try:
            number = int(str(given))
        except ValueError:
            number = None
        if number is None or (least is not None and number < least):
            raise typer.BadParameter(f"{str(given)!r}; give {allowed}")
        return number

    return read


def number(least: float, most: float = math.inf, *, above: bool = False) -> Callable[[object], float]:
    """Make a reader of finite numbers from `least` (excluded with `above`) to `most`."""
    allowed = f"a number {'above' if above else 'from'} {least:g}" + (f" to {most:g}" if most < math.inf else "")

    def read(given: object) -> float:
        try:
            value = float(str(given))
        except ValueError:
            value = math.nan
        if not (least < value if above else least <= value) or value > most or math.isinf(value):
            raise typer.BadParameter(f"{str(given)!r}; give {allowed}")
        return value

    return read


def json_object(given: object) -> dict[str, object]:
    """Read a JSON object."""
    if isinstance(given, dict):
        return given
    try:
        value = json.loads(str(given))
    except ValueError as error:
        raise typer.BadParameter(f"it is not JSON ({error}); give an object such as '{{\"top_k\": 20}}'") from None
    if not isinstance(value, dict):
        raise typer.BadParameter(f"{str(given)!r}; give a JSON object such as '{{\"top_k\": 20}}'")
    return value


def _option(
    *names: str,
    panel: str,
    help: str,
    parser: Callable[[object], object] | None = None,
    metavar: str | None = None,
    also: tuple[str, ...] = (),
    **more: object,
) -> object:
    """Describe an option with its variable; `also` are further variables, read after it."""
    long = next(name for name in names if name.startswith("--"))
    variables = ["MCTSR_" + long[2:].upper().replace("-", "_"), *also]
    return typer.Option(
        *names, envvar=variables, help=help, rich_help_panel=panel, parser=parser, metavar=metavar, **more
    )  # type: ignore[call-overload]


Source = Annotated[
    str | None,
    typer.Argument(metavar="DATA", help="File of problems (.jsonl or .json), or - to read stdin.", show_default=False),
]
Question = Annotated[
    str | None, _option("--question", "-q", panel=DATA, metavar="TEXT", help="Solve this one question instead.")
]
Limit = Annotated[
    str | None,
    _option("--limit", "-L", panel=DATA, metavar="N|A-B", help="The first N problems, or those from A to B (from 1)."),
]
Ids = Annotated[
    list[str] | None,
    _option("--ids", panel=DATA, metavar="ID,…", help="Only these problems; can be given again."),
]
AnswerKind = Annotated[
    str | None,
    _option(
        "--answer-kind",
        panel=DATA,
        metavar="KIND",
        help="How answers are read: number, letter or formula; told from the data when not given.",
    ),
]

Recipe = Annotated[
    str,
    _option("--recipe", panel=RUN, metavar="NAME", help="Name (see mctsr recipes), module:function or file.py:function."),
]
Set = Annotated[
    list[str] | None,
    _option("--set", "-s", panel=RUN, metavar="KEY=VALUE", help="An argument of the recipe; can be given again, last wins."),
]
Prompts = Annotated[
    str | None, _option("--prompts", panel=RUN, metavar="DIR", help="Folder whose <name>.md replace the shipped prompts.")
]
Config = Annotated[
    str | None,
    _option(
        "--config",
        "-C",
        panel=RUN,
        metavar="FILE",
        help="TOML file: option names with underscores, and a table [recipe_arguments] or one named after the "
        "recipe. Flags and variables win over it.",
        callback=load,
        is_eager=True,
    ),
]
Seed = Annotated[int, _option("--seed", panel=RUN, metavar="N", parser=whole(), help="Of every choice and call.")]
Width = Annotated[
    int | None,
    _option("--width", panel=RUN, metavar="N", parser=whole(1), help="Asks in flight in one tree; default: the recipe's."),
]

Model = Annotated[
    str | None,
    _option(
        "--model",
        "-m",
        panel=SERVER,
        metavar="NAME",
        help="Model on the server, default the first it serves; embedded or a .gguf file starts one here.",
    ),
]
BaseUrl = Annotated[
    str | None,
    _option(
        "--base-url",
        panel=SERVER,
        metavar="URL",
        help="Of an OpenAI-like server, such as http://localhost:8000/v1.",
        also=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    ),
]
ApiKey = Annotated[
    str | None,
    _option(
        "--api-key",
        panel=SERVER,
        metavar="KEY",
        help="Better given as a variable; never shown or recorded.",
        also=("OPENAI_API_KEY",),
        show_default=False,
    ),
]
JudgeModel = Annotated[
    str | None,
    _option("--judge-model", panel=SERVER, metavar="NAME", help="Model that scores; default: the one that answers."),
]
JudgeBaseUrl = Annotated[
    str | None,
    _option("--judge-base-url", panel=SERVER, metavar="URL", help="Its server; default: the same server."),
]
JudgeApiKey = Annotated[
    str | None,
    _option("--judge-api-key", panel=SERVER, metavar="KEY", help="Its key; default: the same on the same server."),
]
MaxConcurrency = Annotated[
    int | None,
    _option(
        "--max-concurrency",
        panel=SERVER,
        metavar="N",
        parser=whole(1),
        help="Sequences in flight over all models; default 32, embedded 4.",
    ),
]
Timeout = Annotated[
    float,
    _option("--timeout", panel=SERVER, metavar="SECONDS", parser=number(0, above=True), help="For one attempt of a call."),
]
MaxRetries = Annotated[
    int, _option("--max-retries", panel=SERVER, metavar="N", parser=whole(0), help="Further attempts of a call.")
]
WaitForServer = Annotated[
    float,
    _option("--wait-for-server", panel=SERVER, metavar="SECONDS", parser=number(0), help="How long a server may still be loading."),
]

Temperature = Annotated[
    float | None,
    _option("--temperature", panel=SAMPLING, metavar="T", parser=number(0, 2), help="Of every call, 0 to 2; default: the recipe's, else 0.7."),
]
TopP = Annotated[
    float,
    _option("--top-p", panel=SAMPLING, metavar="P", parser=number(0, 1, above=True), help="Nucleus sampling, above 0 to 1."),
]
MaxTokens = Annotated[
    int, _option("--max-tokens", panel=SAMPLING, metavar="N", parser=whole(1), help="Longest answer, in tokens.")
]
JudgeMaxTokens = Annotated[
    int, _option("--judge-max-tokens", panel=SAMPLING, metavar="N", parser=whole(1), help="Longest judgement, in tokens.")
]
