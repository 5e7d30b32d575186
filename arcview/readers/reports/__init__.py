"""Readers of test reports: one format a module."""
