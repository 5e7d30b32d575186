"""Runs gates through the API of Docker and what speaks it; the only place that imports `docker`."""

from arcview.gates.docker_engine.connect import open_docker as open_docker
