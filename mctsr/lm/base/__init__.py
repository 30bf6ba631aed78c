"""What a language model is to everybody who asks one: requests, replies, the protocol, the count of costs.

This folder knows nothing of HTTP, of files, or of what the text means.
"""

from .model import LM, LogicalLM, no_scores, offered_by, unoffered
from .reply import Completion, Finish, Pooled, Token, Usage
from .request import Message, Place, Pooling, Request, Role, Task
from .tally import Tally

__all__ = [
    "LM",
    "Completion",
    "Finish",
    "LogicalLM",
    "Message",
    "Place",
    "Pooled",
    "Pooling",
    "Request",
    "Role",
    "Tally",
    "Task",
    "Token",
    "Usage",
    "no_scores",
    "offered_by",
    "unoffered",
]
