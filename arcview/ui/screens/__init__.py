"""Screens: they own the session and hand rows to widgets."""
