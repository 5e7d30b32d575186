"""Readers of trajectories: one format a module."""
