"""Settings of a run as they are recorded: plain JSON values that hold in any folder, without secrets."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import cast

from mctsr.errors import RunError, user_path
from mctsr.lm.local.gguf import EMBEDDED
from mctsr.lm.options import RoleOptions, Settings

__all__ = ["RoleOptions", "Settings", "from_record", "to_record"]


def to_record(settings: Settings) -> dict[str, object]:
    """Return the settings as plain JSON values, files by their absolute paths, so that they hold anywhere."""
    anchored = replace(
        settings,
        recipe=_recipe_path(settings.recipe),
        policy=_model_path(settings.policy),
        judge=_model_path(settings.judge) if settings.judge else None,
        prm=_model_path(settings.prm) if settings.prm else None,
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
    for role in ("policy", "judge", "prm"):
        if isinstance(values.get(role), Mapping):
            values[role] = _role(role, cast(Mapping[str, object], values[role]))
    values["ids"] = tuple(cast(list[str], values.get("ids", ())))
    return Settings(**values)  # type: ignore[arg-type]


def _role(role: str, record: Mapping[str, object]) -> RoleOptions:
    if unknown := sorted(record.keys() - {part.name for part in fields(RoleOptions)}):
        raise RunError(
            f"the run's {role} has the settings {unknown}, which this version does not know; update mctsr"
        )
    return RoleOptions(**record)  # type: ignore[arg-type]


def _recipe_path(recipe: str) -> str:
    file, colon, function = recipe.rpartition(":")
    return f"{_absolute(file)}:{function}" if colon and file.endswith(".py") else recipe


def _model_path(options: RoleOptions) -> RoleOptions:
    is_file = options.starts_here and options.model != EMBEDDED
    return replace(options, model=_absolute(str(options.model))) if is_file else options


def _absolute(path: str) -> str:
    return str(user_path(path).resolve())
