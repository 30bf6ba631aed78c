"""The shapes of run.json."""

from typing import NotRequired, TypedDict


class ServerRecord(TypedDict):
    """What one role talks to; `context` in tokens, None if not told; `way` of continuing begun turns, if tried."""

    role: str
    kind: str
    model: str
    base_url: str
    version: str
    context: int | None
    way: NotRequired[str]


class RunRecord(TypedDict):
    """run.json: everything needed to say what was run and to go on with it; never a secret.

    `data` is the path of the data file; a question and problems from standard input are in `problems`, with the gold
    answers that came along in `gold`. `problem_hashes` goes with `problem_ids`; `gold_ids` are those that have a gold
    answer, `gold_sha256` is a hash of these. `scale` is the judge's lower and upper bound.
    """

    schema: int
    name: str
    created: str
    versions: dict[str, str]
    settings: dict[str, object]
    recipe: str
    recipe_arguments: dict[str, object]
    recipe_source_sha256: str
    scale: NotRequired[list[float] | None]
    prompts: dict[str, str]
    data: str | None
    problems: list[dict[str, str | None]] | None
    problem_ids: list[str]
    problem_hashes: list[str]
    problems_sha256: str
    gold: dict[str, str] | None
    gold_ids: list[str]
    gold_sha256: str | None
    servers: list[ServerRecord]
    notices: list[str]
