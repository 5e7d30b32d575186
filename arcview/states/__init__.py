"""The ordered workspace states as trees in a private git object store, and the cache they live in.

Knows the model and `git`; knows nothing of layouts, analyses or screens.
"""
