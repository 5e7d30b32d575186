"""Widgets: they show rows and report what was picked; they know no run."""
