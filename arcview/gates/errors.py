"""Why a gate cannot be rerun, each in one line. Imports nothing but the other errors."""

from __future__ import annotations

from arcview.errors import ArcviewError


class CannotRerunError(ArcviewError):
    """The run does not say how this gate is run, or on what."""


class EngineUnavailableError(ArcviewError):
    """No container engine answers; says what is missing and what to do."""

    exit_code = 3
    """Unmeasured or no engine."""


class ImageRefusedError(ArcviewError):
    """The image is not there, or another one than the run recorded."""

    exit_code = 3


class ImageMissingError(ImageRefusedError):
    """The engine has no image of that name; it could be fetched."""
