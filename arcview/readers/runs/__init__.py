"""Readers of run layouts: one module each, with `detect`, `summarise` and `read`."""
