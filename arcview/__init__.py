"""arcview: a terminal replay viewer for multi-stage coding-agent runs."""

__version__ = "0.1.0"
