"""Model → rows: pure functions that turn one thing into styled, cleaned lines."""
