"""What a run was told to do: every setting in one record, without secrets."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import cast

from mctsr.errors import RunError


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


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of `solve`; recorded in run.json and taken up again by `resume`.

    Attributes:
        recipe: Name, `module:function` or `file.py:function`.
        arguments: What the user gave with -s or in the config file, before checking.
        policy: The model that answers.
        judge: The model that scores; None when the policy judges itself (then `judge_max_tokens` differs only).
        judge_max_tokens: Longest judgement, in tokens.
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
    limit: str | None = None
    ids: tuple[str, ...] = ()
    fail_on_error: float | None = None
    keep_calls: bool = False


def to_record(settings: Settings) -> dict[str, object]:
    """Return the settings as plain JSON values, files by their absolute paths, so that they hold anywhere."""
    anchored = replace(
        settings,
        recipe=_recipe_path(settings.recipe),
        policy=_model_path(settings.policy),
        judge=_model_path(settings.judge) if settings.judge else None,
        prompts=_absolute(settings.prompts) if settings.prompts else None,
    )
    return {**asdict(anchored), "ids": list(anchored.ids)}


def from_record(record: Mapping[str, object]) -> Settings:
    """Take settings up again as `to_record` wrote them.

    Raises:
        RunError: They are not the settings of this version.
    """
    known = {part.name for part in fields(Settings)}
    if unknown := sorted(record.keys() - known):
        raise RunError(f"the run has the settings {unknown}, which this version does not know; update mctsr")
    values = dict(record)
    for role in ("policy", "judge"):
        if isinstance(values.get(role), Mapping):
            values[role] = RoleOptions(**cast(dict[str, str], values[role]))  # type: ignore[arg-type]
    values["ids"] = tuple(cast(list[str], values.get("ids", ())))
    return Settings(**values)  # type: ignore[arg-type]


def _recipe_path(recipe: str) -> str:
    file, colon, function = recipe.rpartition(":")
    return f"{_absolute(file)}:{function}" if colon and file.endswith(".py") else recipe


def _model_path(options: RoleOptions) -> RoleOptions:
    model = options.model
    is_file = options.base_url is None and model is not None and model.endswith(".gguf")
    return replace(options, model=_absolute(str(model))) if is_file else options


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().resolve())
