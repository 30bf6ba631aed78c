"""The options that commands share: names, variables, allowed values, help.

Knows: how a value is spelt on the command line. Does not know: what it is used for.
Every option can also be given as a variable, MCTSR_ and its name; an empty variable counts as unset.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from .config import json_object, load, number, whole

DATA, RECIPE, SERVER, SAMPLING = "Problems", "Recipe", "Server", "Sampling"
LIMITS, OUTPUT = "Limits of each problem", "Output"


class Display(StrEnum):
    """How a run shows itself while it goes on."""

    AUTO = "auto"
    RICH = "rich"
    PLAIN = "plain"
    NONE = "none"


def option(
    names: str,
    panel: str,
    metavar: str | None,
    help: str,
    *,
    parser: Callable[[object], object] | None = None,
    callback: Callable[[typer.Context, str | None], str | None] | None = None,
    also: str = "",
    show_default: bool = True,
) -> object:
    """Describe an option and its variables.

    Args:
        names: Its spellings, the long one first.
        panel: The group it is shown in.
        metavar: What its value is called; None for a switch.
        help: What it does, in one line.
        parser: Reads its value.
        callback: Called with the value.
        also: Variables that are read after its own.
        show_default: Whether the help shows the default.
    """
    spellings = names.split()
    own = "MCTSR_" + spellings[0].removeprefix("--").upper().replace("-", "_")
    return typer.Option(
        *spellings,
        envvar=[own, *also.split()],
        metavar=metavar,
        help=help,
        rich_help_panel=panel,
        parser=parser,
        callback=callback,
        is_eager=callback is not None,
        show_default=show_default,
    )


Source = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="File of problems (JSON Lines, JSON, CSV, TSV, Parquet, also .gz), or - for stdin "
        "(plain text there is one question), or a Hugging Face data set as ORG/NAME[:SPLIT].",
        show_default=False,
    ),
]
Question = Annotated[str | None, option("--question -q", DATA, "TEXT", "Solve this one question instead.")]
Limit = Annotated[
    str | None, option("--limit -L", DATA, "N|A-B", "The first N problems, or A to B (from 1).")
]
Ids = Annotated[list[str] | None, option("--ids", DATA, "ID,…", "Only these problems; can be repeated.")]

Recipe = Annotated[
    str,
    option("--recipe", RECIPE, "NAME", "A name of mctsr recipes, module:function or file.py:function."),
]
Set = Annotated[
    list[str] | None,
    option("--set -s", RECIPE, "KEY=VALUE", "An argument of the recipe; can be repeated, the last one wins."),
]
Prompts = Annotated[
    str | None, option("--prompts", RECIPE, "DIR", "Folder whose <name>.md replace the shipped prompts.")
]
Config = Annotated[
    str | None,
    option(
        "--config -C",
        RECIPE,
        "FILE",
        "TOML: option names with underscores, and a table recipe_arguments or one named after the recipe. "
        "Flags and variables win over it.",
        callback=load,
    ),
]
Seed = Annotated[int, option("--seed", RECIPE, "N", "Seed of every choice and call.", parser=whole())]
Width = Annotated[
    int | None,
    option("--width", RECIPE, "N", "Asks in flight in one tree; default: the recipe's.", parser=whole(1)),
]

Model = Annotated[
    str | None,
    option(
        "--model -m",
        SERVER,
        "NAME",
        "Model on the server, default: the first it serves. embedded or a .gguf file starts one here.",
    ),
]
BaseUrl = Annotated[
    str | None,
    option(
        "--base-url",
        SERVER,
        "URL",
        "OpenAI-like server, such as http://localhost:8000/v1.",
        also="OPENAI_BASE_URL OPENAI_API_BASE",
    ),
]
ApiKey = Annotated[
    str | None,
    option(
        "--api-key", SERVER, "KEY", "Never shown or recorded; safer as a variable.", also="OPENAI_API_KEY"
    ),
]
JudgeModel = Annotated[
    str | None, option("--judge-model", SERVER, "NAME", "Model that scores; default: the one that answers.")
]
JudgeBaseUrl = Annotated[
    str | None, option("--judge-base-url", SERVER, "URL", "Its server; default: the same as --base-url.")
]
JudgeApiKey = Annotated[
    str | None,
    option("--judge-api-key", SERVER, "KEY", "Its key; default: that of --api-key on the same server."),
]
PrmModel = Annotated[
    str | None,
    option("--prm-model", SERVER, "NAME", "Reward model for recipes that need one; default: none."),
]
PrmBaseUrl = Annotated[
    str | None, option("--prm-base-url", SERVER, "URL", "Its server; default: the same as --base-url.")
]
PrmApiKey = Annotated[
    str | None,
    option("--prm-api-key", SERVER, "KEY", "Its key; default: that of --api-key on the same server."),
]
MaxConcurrency = Annotated[
    int | None,
    option(
        "--max-concurrency",
        SERVER,
        "N",
        "Sequences in flight over all models; default: 32, embedded 4.",
        parser=whole(1),
    ),
]
Timeout = Annotated[
    float,
    option("--timeout", SERVER, "SECONDS", "Longest time for one attempt.", parser=number(0, above=True)),
]
MaxRetries = Annotated[
    int, option("--max-retries", SERVER, "N", "Further attempts of a call.", parser=whole(0))
]
WaitForServer = Annotated[
    float,
    option("--wait-for-server", SERVER, "SECONDS", "How long to wait while it loads.", parser=number(0)),
]

Temperature = Annotated[
    float | None,
    option(
        "--temperature",
        SAMPLING,
        "T",
        "0 to 2, of every call; default: the recipe's, else 0.7.",
        parser=number(0, 2),
    ),
]
TopP = Annotated[
    float, option("--top-p", SAMPLING, "P", "Nucleus, above 0 to 1.", parser=number(0, 1, above=True))
]
MaxTokens = Annotated[
    int, option("--max-tokens", SAMPLING, "N", "Longest answer, in tokens.", parser=whole(1))
]
JudgeMaxTokens = Annotated[
    int, option("--judge-max-tokens", SAMPLING, "N", "Longest judgement, in tokens.", parser=whole(1))
]
ExtraBody = Annotated[
    str | None,
    option(
        "--extra-body",
        SAMPLING,
        "JSON",
        "Object of fields sent unchanged with every request to --base-url.",
        parser=json_object,
    ),
]

MaxCalls = Annotated[
    int | None,
    option(
        "--max-calls",
        LIMITS,
        "N",
        "Calls, checked between rollouts: what is in flight may pass it; default: none.",
        parser=whole(1),
    ),
]
TokenLimit = Annotated[
    int | None,
    option(
        "--token-limit", LIMITS, "N", "Prompt and reply tokens, likewise; default: none.", parser=whole(1)
    ),
]
TimeLimit = Annotated[
    float | None,
    option("--time-limit", LIMITS, "SECONDS", "Default: no limit.", parser=number(0, above=True)),
]

OutputDir = Annotated[
    str | None, option("--output-dir -o", OUTPUT, "DIR", "Run folder; default: runs/<time>-<recipe>-<data>.")
]
Overwrite = Annotated[bool, option("--overwrite", OUTPUT, None, "Replace the run in the output folder.")]
FailOnError = Annotated[
    float | None,
    option(
        "--fail-on-error",
        OUTPUT,
        "P",
        "Exit with 1 when more problems fail: a share below 1, or a number; default: when all fail.",
        parser=number(0),
    ),
]
KeepCalls = Annotated[bool, option("--keep-calls", OUTPUT, None, "Keep the call logs of finished problems.")]
DryRun = Annotated[
    bool, option("--dry-run", OUTPUT, None, "Print the plan with its expected cost; contact nothing.")
]
Show = Annotated[Display, option("--display", OUTPUT, None, "How progress is shown, on stderr.")]
Quiet = Annotated[bool, option("--quiet", OUTPUT, None, "Show nothing but the result and errors.")]
Json = Annotated[bool, option("--json", OUTPUT, None, "Print the result as JSON.")]
