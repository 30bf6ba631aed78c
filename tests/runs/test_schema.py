"""JSON Schemas: generated from the records, kept under version control, true of what is written."""

import json
from pathlib import Path

import jsonschema
import pytest

from mctsr.runs.schema import schemas, write
from tests.runs.world import lines, planned, run

KEPT = Path(__file__).parents[2] / "docs" / "schema"


def test_the_kept_schemas_are_those_of_the_code() -> None:
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in KEPT.glob("*.json")}
    assert kept == schemas(), "write them anew with mctsr.runs.schema.write"


def test_schemas_are_written_as_they_are_kept(tmp_path: Path) -> None:
    write(tmp_path)
    for path in KEPT.glob("*.json"):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schemas()[name])


async def test_real_files_fit_their_schemas(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    await run(folder, planned(tmp_path))
    for name, file in (("tree", "trees"), ("result", "results"), ("grade", "grades")):
        records = lines(folder / f"{file}.jsonl")
        assert len(records) == 3
        for record in records:
            jsonschema.validate(record, schemas()[name])
    for name in ("run", "summary"):
        jsonschema.validate(json.loads((folder / f"{name}.json").read_bytes()), schemas()[name])


async def test_a_record_with_a_key_too_few_or_too_many_does_not_fit(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path, 1))
    (tree,) = lines(tmp_path / "run" / "trees.jsonl")
    changes: list[dict[str, object]] = [{"extra": 1}, {"front": [0.5]}, {"nodes": [{}]}, {"problem": None}]
    for change in changes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**tree, **change}, schemas()["tree"])
    fold = next(event for event in tree["events"] if event["event"] == "folded")
    for row in (
        [0, 1],
        [0, 1, 2.0, 3],
        [0.5, 1, None],
        [0, None, 2.0],
        {"id": 0, "visits": 1, "value": None},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**tree, "events": [{**fold, "changed": [row]}]}, schemas()["tree"])
    jsonschema.validate({**tree, "events": [{**fold, "changed": [[0, 1, None]]}]}, schemas()["tree"])
    del tree["events"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tree, schemas()["tree"])
