"""Application state without Textual: the open run, cursors, filters, the command registry."""
