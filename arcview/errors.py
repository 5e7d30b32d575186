"""The expected errors. Each carries one line that a user can act on; the CLI prints it and exits.

Imports nothing of arcview.
"""

from __future__ import annotations


class ArcviewError(Exception):
    """Base of every error that is shown to a user as one line, never as a traceback."""

    exit_code = 2
    """What the CLI exits with: 2, bad input or use."""


class BadInputError(ArcviewError):
    """A file does not hold what its format promises.

    Args:
        path: The file, as the user would name it.
        expected: What should have been there.
        field: Where in the file, as a dotted path or a line (`states[2].id`, `line 14`).
    """

    def __init__(self, path: str, expected: str, field: str | None = None) -> None:
        self.path = path
        self.field = field
        self.expected = expected
        super().__init__(f"{path}: {field}: {expected}" if field else f"{path}: {expected}")


class UnknownLayoutError(ArcviewError):
    """Nothing that arcview can read was recognised at the given place."""


class GitError(ArcviewError):
    """The git program is missing, too old, or a call of it failed."""


class CancelledError(ArcviewError):
    """The user cancelled a long operation; nothing is wrong with the input."""
