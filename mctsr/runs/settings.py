"""Settings of a run as they are recorded: plain JSON values that hold in any folder, without secrets."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import cast

from mctsr.errors import RunError, UsageError, user_path
from mctsr.lm.address import read_address
from mctsr.lm.base import Role
from mctsr.lm.local.gguf import EMBEDDED
from mctsr.lm.options import RoleOptions, Settings

from .records import ServerRecord

__all__ = ["RoleOptions", "Settings", "from_record", "moved", "pinned", "to_record"]


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


def pinned(settings: Settings, servers: Iterable[ServerRecord]) -> Settings:
    """Name the models that answered last, and where they did, so that no others go on in their place."""
    served = {server["role"]: server for server in servers if server["base_url"] != EMBEDDED}

    def last(role: Role, options: RoleOptions | None) -> RoleOptions | None:
        if options is None or (server := served.get(role)) is None:
            return options
        place = server["base_url"] if options.base_url else None
        return replace(options, model=server["model"], base_url=place)

    return _each_role(settings, last)


def moved(settings: Settings, addresses: Mapping[Role, str]) -> Settings:
    """Name new addresses for some roles; a role without an address of its own goes where the policy is.

    Raises:
        UsageError: A role has no server that could have moved, or an address is none.
    """

    def now(role: Role, options: RoleOptions | None) -> RoleOptions | None:
        if role not in addresses:
            return options
        if options is None or options.starts_here:
            why = "has no model of its own" if options is None else "is a model that is started here"
            flag = "--base-url" if role == "policy" else f"--{role}-base-url"
            raise UsageError(f"{flag} does not fit: the run's {role} {why}; leave it out, or begin a new run")
        return replace(options, base_url=read_address(addresses[role]).base)

    return _each_role(settings, now)


def _each_role(
    settings: Settings, change: Callable[[Role, RoleOptions | None], RoleOptions | None]
) -> Settings:
    policy = change("policy", settings.policy) or settings.policy
    return replace(
        settings, policy=policy, judge=change("judge", settings.judge), prm=change("prm", settings.prm)
    )


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
