"""What goes wrong between us and an engine, as one line."""

from __future__ import annotations

from docker.errors import APIError, DockerException
from requests.exceptions import RequestException

GONE = (RequestException, OSError)
"""The engine does not answer any more; an `APIError` is an answer, though requests' own child."""

ANY = (DockerException, RequestException, OSError)


def is_gone(error: Exception) -> bool:
    """Whether the engine went away, as against saying no."""
    return isinstance(error, GONE) and not isinstance(error, APIError)


def one_line(error: Exception) -> str:
    """What an error says, without the layers of libraries around it."""
    if isinstance(error, APIError):
        return " ".join(str(error.explanation or error).split())
    cause: BaseException = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return " ".join((text or type(cause).__name__).split())
