"""The shapes of everything in a run folder; JSON Schemas are generated from here.

A key is always present, null when nothing is known, but for those marked `NotRequired`. Floats are finite. Node ids
count from 0 in order of creation.
"""

from .result import (
    AnswersRecord,
    CountsRecord,
    GradeRecord,
    ResultRecord,
    RoleUsageRecord,
    SummaryRecord,
    UsageRecord,
    VerdictRecord,
)
from .run import RunRecord, ServerRecord
from .tree import (
    AskedRecord,
    EventRecord,
    FoldedRecord,
    NodeRecord,
    RowRecord,
    SampleRecord,
    StoppedRecord,
    TreeRecord,
)

__all__ = [
    "SCHEMA", "VOLATILE", "AnswersRecord", "AskedRecord", "CountsRecord", "EventRecord", "FoldedRecord", "GradeRecord",
    "NodeRecord", "ResultRecord", "RoleUsageRecord", "RowRecord", "RunRecord", "SampleRecord", "ServerRecord",
    "StoppedRecord", "SummaryRecord", "TreeRecord", "UsageRecord", "VerdictRecord",
]  # fmt: skip

SCHEMA = 1

#: Fields that two runs of the same replies may differ in, wherever they occur.
_TIMES, _PLACES = {"seconds", "created", "finished"}, {"repeated", "replayed", "offset", "length"}
VOLATILE = frozenset(_TIMES | _PLACES | {"cached_tokens"})
