"""Why a function of `koster._worker` gives no answer; the service makes a problem of it."""

from __future__ import annotations


class RefusedError(Exception):
    """The request asks for what is not allowed, or for too much.

    ``status`` and ``code`` are those of the problem; ``pointer`` is a JSON pointer to the field.
    """

    def __init__(self, status: int, code: str, detail: str, pointer: str | None = None) -> None:
        super().__init__(status, code, detail, pointer)
        self.status = status
        self.code = code
        self.detail = detail
        self.pointer = pointer


def answer_too_large(limit: int) -> RefusedError:
    """Return the refusal of an answer that would exceed its limit in bytes."""
    detail = (
        f"the answer is larger than {limit:,} bytes: send a smaller file, or fewer agents or URLs"
    )
    return RefusedError(422, "answer-too-large", detail)
