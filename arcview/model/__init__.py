"""The model: frozen dataclasses that readers produce and everything else consumes.

Stdlib only. Construction never fails; validation is the readers' job.
"""
