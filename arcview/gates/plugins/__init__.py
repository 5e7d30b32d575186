"""What runs inside a gate's container beside the gate. Imports nothing of arcview."""

from __future__ import annotations

from pathlib import Path

PLUGINS = (Path(__file__).with_name("arcview_reportlog.py"),)
"""Ours, not pytest-reportlog itself: that would make pytest a dependency of arcview, and clash with
the one that an image may have."""
