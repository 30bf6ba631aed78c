"""What a run was told to do: every setting in one record, without secrets."""

from dataclasses import dataclass, field


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
