"""What a user says of the models: every setting in one record.

Knows: names, files and what may be sent along. Does not know: flags and variables, secrets, or addresses.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from mctsr.errors import UsageError, named, shown
from mctsr.lm.local.gguf import EMBEDDED

_SECRETS = re.compile(
    r"(api|secret|access|private)key|secret|passw(or)?d|credentials?|authorization|bearer|(access|auth|bearer|hf|api)token"
)
_OURS = ("model", "messages", "n", "stream", "stream_options")

DEEPEST = 64
"""Levels of lists and objects in what is sent along, or stands in a configuration file."""


@dataclass(frozen=True, slots=True)
class RoleOptions:
    """How one role's model is reached and sampled.

    Attributes:
        model: Name on the server; "embedded" or a `.gguf` path starts a server; None takes the first one served.
        base_url: Where the server is; None for an embedded model.
        temperature: Of every call; None leaves it to the recipe, else 0.7.
        top_p: Nucleus sampling.
        max_tokens: Longest reply, in tokens.
        extra_body: Fields sent along unchanged.
    """

    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    top_p: float = 0.95
    max_tokens: int = 1024
    extra_body: dict[str, object] = field(default_factory=dict)

    @property
    def starts_here(self) -> bool:
        """Whether the model is served by a process of our own."""
        name = "" if self.base_url else self.model or ""
        return name == EMBEDDED or name.endswith(".gguf")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of `solve`; recorded in run.json and taken up again by `resume`.

    Attributes:
        recipe: Name, `module:function` or `file.py:function`.
        arguments: What the user gave with -s or in the config file, before checking.
        policy: The model that answers.
        judge: The model that scores; None when the policy judges itself (then `judge_max_tokens` differs only).
        judge_max_tokens: Longest judgement, in tokens.
        prm: The reward model; None when there is none.
        seed: The run's seed.
        width: Asks in flight in one tree; None keeps the recipe's.
        max_concurrency: Sequences in flight over all roles; None is 32, or 4 for an embedded model.
        timeout: Seconds for one HTTP attempt.
        max_retries: Further attempts of a call.
        wait_for_server: Seconds to wait for a server that is still loading.
        max_calls: Calls a problem.
        token_limit: Tokens a problem.
        time_limit: Seconds a problem.
        prompts: Folder that overrides shipped prompts, file by file.
        answer_kind: How answers are read, for all problems; None leaves it to the data.
        problem_field: Field of the data that holds the problem; None leaves it to be found, as with the next two.
        answer_field: Field that holds the gold answer.
        id_field: Field that holds the id.
        skip_bad: Leave out rows of the data that are no problems, and count them.
        limit: "N" or "A-B" (from 1): which problems of the data file.
        ids: Only these problems.
        fail_on_error: Share (< 1) or number of failed problems above which the exit code is 1.
        keep_calls: Keep the call logs of finished problems.
    """

    recipe: str = "mctsr"
    arguments: dict[str, object] = field(default_factory=dict)
    policy: RoleOptions = field(default_factory=RoleOptions)
    judge: RoleOptions | None = None
    judge_max_tokens: int = 512
    prm: RoleOptions | None = None
    seed: int = 0
    width: int | None = None
    max_concurrency: int | None = None
    timeout: float = 600.0
    max_retries: int = 5
    wait_for_server: float = 0.0
    max_calls: int | None = None
    token_limit: int | None = None
    time_limit: float | None = None
    prompts: str | None = None
    answer_kind: str | None = None
    problem_field: str | None = None
    answer_field: str | None = None
    id_field: str | None = None
    skip_bad: bool = False
    limit: str | None = None
    ids: tuple[str, ...] = ()
    fail_on_error: float | None = None
    keep_calls: bool = False


def check_body(body: Mapping[str, object], keys: Collection[str | None] = ()) -> None:
    """Check fields that are to be sent along: they are recorded, and must leave the run's own fields alone.

    Args:
        body: The fields.
        keys: Keys that must not be in it, wherever they are.

    Raises:
        UsageError: It sets what a run decides, holds a key or what is called like one, or is nested too deeply.
    """
    if ours := [name for name in _OURS if name in body]:
        raise UsageError(f"the extra body sets {named(ours)}, which the run itself decides; leave that out")
    secrets = [key.strip() for key in keys if key and key.strip()]
    level: list[object] = [body]
    for _ in range(DEEPEST):
        pairs = [pair for value in level if isinstance(value, Mapping) for pair in value.items()]
        names = [str(name) for name, _ in pairs]
        listed = [inner for value in level if isinstance(value, list) for inner in value]
        level = [value for _, value in pairs] + listed
        # First of all: the name that the next message repeats could be the key.
        if any(_holds(value, key) for value in [*names, *level] for key in secrets):
            raise UsageError(
                "the extra body holds the API key and is recorded; give the key by --api-key alone"
            )
        if secret := next(filter(_is_secret, names), None):
            raise UsageError(f"the extra body holds {shown(secret)} and is recorded; give it by --api-key")
    if any(isinstance(value, Mapping | list) for value in level):
        raise UsageError(f"the extra body is nested deeper than {DEEPEST} levels; send less")


def _is_secret(name: str) -> bool:
    bare = re.sub(r"[^a-z]", "", name.lower())
    return bare == "token" or any(found.end() == len(bare) for found in _SECRETS.finditer(bare))


def _holds(value: object, key: str) -> bool:
    # A short key such as "x" may stand in any text by chance.
    return isinstance(value, str) and (value == key or (len(key) > 5 and key in value))
