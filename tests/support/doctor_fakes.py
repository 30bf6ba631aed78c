"""What made-up servers say to a doctor: one that does everything well, to be spoilt in one respect at a time."""

import json
from collections.abc import Callable
from typing import Any

from tests.support import fake_ways
from tests.support.fake_server import Body, Reply
from tests.support.fake_ways import Model

COUNTED = "1, 2, 3, 4, 5, 6, 7, 8, 9"
VLLM = {"owned_by": "vllm", "max_model_len": 4096}


def model() -> Model:
    """Return a model that counts to nine, whatever it is asked."""
    return Model(COUNTED)


def well(
    spoilt: Callable[[Body], Reply | None] = lambda body: None,
    *,
    opens: Callable[[Body], bool] = lambda body: True,
    names: str = "stop_reason",
) -> Callable[[Body], Reply]:
    """Make the replies of a server that does all that is asked of it.

    Args:
        spoilt: Says something else where it returns anything.
        opens: Whether a begun turn is continued.
        names: The field that tells the stop string; "" for none.
    """
    counting = fake_ways.chat(model(), opens=opens, names=names)

    def reply(body: Body) -> Reply:
        said = spoilt(body)
        if said is not None:
            return said
        if "response_format" in body:
            return json.dumps({"word": "beta"})
        if "random" in body["messages"][-1]["content"]:
            return f"word{body['seed']}"
        whole: dict[str, Any] = dict(counting(body))  # type: ignore[arg-type]
        if body.get("logprobs"):
            whole["choices"][0]["logprobs"] = logprobs(body.get("top_logprobs", 0))
        return whole

    return reply


def logprobs(most: int) -> dict[str, Any]:
    """Lay the log-probabilities of one token out as a chat endpoint does."""
    tops = [{"token": f"t{n}", "logprob": -1.0 - n} for n in range(most)]
    return {"content": [{"token": "t0", "logprob": -1.0, "top_logprobs": tops}]}
