"""Settings are recorded so that they hold anywhere, and taken up again unchanged."""

from pathlib import Path

import pytest

from mctsr.errors import RunError
from mctsr.runs import files
from mctsr.runs.settings import RoleOptions, Settings, from_record, to_record


def through_json(settings: Settings) -> Settings:
    record = files.loads(files.dumps(to_record(settings)))
    assert isinstance(record, dict)
    return from_record(record)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(
            arguments={"rollouts": 3, "c": 0.5},
            policy=RoleOptions("m", "http://h/v1", 0.2, 0.9, 7, {"top_k": 3}),
            judge=RoleOptions("j", "http://h/v1"),
            ids=("a", "b"),
            limit="2-3",
            time_limit=1.5,
            keep_calls=True,
        ),
    ],
)
def test_settings_survive_their_record(settings: Settings) -> None:
    assert through_json(settings) == settings


def test_files_are_recorded_by_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings(
        recipe="own.py:greedy",
        prompts="prompts",
        policy=RoleOptions("m.gguf"),
        judge=RoleOptions("m.gguf", "http://h/v1"),
    )
    again = through_json(settings)
    assert again.recipe == f"{tmp_path}/own.py:greedy"
    assert again.prompts == f"{tmp_path}/prompts"
    assert again.policy.model == f"{tmp_path}/m.gguf"
    assert again.judge is not None
    assert again.judge.model == "m.gguf"


@pytest.mark.parametrize("recipe", ["mctsr", "package.module:function"])
def test_names_of_recipes_stay_names(recipe: str) -> None:
    assert through_json(Settings(recipe=recipe)).recipe == recipe


def test_settings_of_a_later_version_are_refused() -> None:
    with pytest.raises(RunError, match="'telepathy'"):
        from_record({**to_record(Settings()), "telepathy": True})
