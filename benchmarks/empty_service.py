"""The peer of the service: a FastAPI route with the same models that does nothing.

``python -m benchmarks.empty_service PORT``
"""

from __future__ import annotations

import sys

import uvicorn
from fastapi import FastAPI

from koster.service import _models as models
from koster.service import _requests

_NOTHING = models.DecideResponse(
    dialect="RFC9309",
    decisions=[
        models.DecisionRecord(
            allowed=False,
            reason="rule",
            line=3,
            rule="Disallow: /private/",
            agent="FooBot",
            url="https://example.com/private/page?x=1",
            sentence="FooBot may not fetch https://example.com/private/page?x=1: line 3, "
            "Disallow: /private/",
            falls_back_to=None,
        )
    ],
)

app = FastAPI()


@app.post("/v1/decide")
async def decide(_question: _requests.DecideRequest) -> models.DecideResponse:
    return _NOTHING


if __name__ == "__main__":
    uvicorn.run(
        app, port=int(sys.argv[1]), http="httptools", loop="asyncio", ws="none",
        access_log=False, log_level="warning",
    )  # fmt: skip
