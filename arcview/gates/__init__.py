"""Reruns of hidden gates in fresh offline containers; the recorded results are never touched."""
