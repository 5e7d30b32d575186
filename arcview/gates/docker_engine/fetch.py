"""Takes the results of a gate out of its container, and lets go of a stream that holds too much.

An engine packs on for as long as somebody may read, and holds the container until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath

from docker import APIClient
from docker.errors import NotFound

from arcview.gates.collect import Taken, take
from arcview.gates.results_folder import Results
from arcview.gates.script import RESULTS


def fetch_results(client: APIClient, container: str, results: Results) -> tuple[str, ...]:
    """Puts what came out into the folder of the job.

    Args:
        client: A client for this thread.
        container: Its id.
        results: What to look for; told of reports that are too large.

    Returns:
        What is to be said of the results besides.

    Raises:
        DockerException: the engine says no.
    """
    folder = PurePosixPath(RESULTS).name
    wanted = results.wanted()
    taken = _taken(client, container, RESULTS, {f"{folder}/{n}": p for n, p in wanted.items()})
    notes = _notes(taken)
    if taken.is_too_much:
        # The tested code may write anything there: what it put before ours hides nothing.
        for name, path in wanted.items():
            if f"{folder}/{name}" not in taken.names:
                one = _taken(client, container, f"{RESULTS}/{name}", {name: path})
                results.note_large(name, is_large=one.is_too_much)
                notes += _notes(one)
    for name, path, report in results.still_wanted():
        one = _taken(client, container, report.path, {PurePosixPath(report.path).name: path})
        results.note_large(name, is_large=one.is_too_much)
        notes += _notes(one)
    return tuple(notes)


def _taken(client: APIClient, container: str, place: str, wanted: Mapping[str, Path]) -> Taken:
    try:
        chunks, _ = client.get_archive(container, place)
    except NotFound:  # the tested code may remove whatever it may write
        return Taken()
    with closing(chunks):
        return take(chunks, wanted)


def _notes(taken: Taken) -> list[str]:
    notes = []
    if taken.refused:
        notes.append(f"a result is no plain file and is left out: {taken.refused[0]}")
    if taken.damage is not None:
        notes.append(f"results came out {taken.damage}")
    return notes
