"""The grammar of single lines of pytest's terminal output. Pure; private to `pytest_log`."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from arcview.model.results import GroupCounts, Outcome

WORDS = {
    "PASSED": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "SKIPPED": Outcome.SKIPPED,
    "XFAIL": Outcome.XFAILED,
    "XPASS": Outcome.XPASSED,
}
RERUN = "RERUN"
_ALL_WORDS = (*WORDS, RERUN)
_WITH_REASON = (" SKIPPED (", " XFAIL (", " XPASS (")

ENDS = (*_ALL_WORDS, ")")
"""What the end of a test ends with, where no progress follows."""

_PERCENT = re.compile(r" *\[ *(?P<done>\d{1,7})(?:%|/(?P<all>\d{1,7}))\]$")
_TOOK = re.compile(r" +(?:[\d.]+(?:us|ms|s)|\d+m \d+s|\d+h \d+m)$")
"""What stands there with `console_output_style=times`."""
_GLUED = re.compile(
    r"(?: (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN)(?: \(.*?\))?|^(?:\S+ )?[.FEsxX]+)"
    r" +\[ *\d+(?:%|/\d+)\](?=[^\s\]])"
)
"""The end of a result that other output follows without a line end, as warnings at exit do."""
_FIXTURES = re.compile(r" \(fixtures used: [^()]*\)(?= [A-Z]+$)")
_ORIGIN = r"<- (?:<[^<>]+>|[^\[\]]+?\.\w+)"
"""Where a test is defined, if not in its own file: `-vv` prints that behind its id."""
_ORIGIN_AT_END = re.compile(rf" {_ORIGIN}$")
_ORIGIN_AT_START = re.compile(rf"^{_ORIGIN}(?= |$)")
_XDIST = re.compile(
    r"^\[gw\d+\] (?:\[ *(?P<percent>\d{1,3})%\] )?(?P<word>[A-Z]+) (?P<id>[^:]+::.*?) *$"
)
_SUBTEST = re.compile(r" (?P<word>SUB(?:PASS|FAIL|SKIP)(?:ED|PED)?)(?P<what>[\[( ].*|)$")
_SUBTEST_SUMMARY = re.compile(r"^SUBFAIL(?:ED)?(?P<what>[\[( ].*?)? ?(?P<id>[^\s\[\]()]+::.*)$")
_WHAT = r"\[.*\](?: \(.*\))?|\(.*\)"
_SUBTEST_BEFORE = re.compile(rf"^(?P<id>\S+::.*?)?(?:^| )(?P<what>{_WHAT})$")
"""The plugin pytest-subtests puts what a subtest is called before the word."""
_SUBTEST_BEFORE_SUMMARY = re.compile(rf"^(?P<what>{_WHAT}) SUBFAIL (?P<id>\S+::.*)$")
_WORKER = re.compile(r"^\[gw\d+\] (?:\[ *\d{1,3}%\] )?")
_MARKS = re.compile(
    r"^(?:(?P<file>\S+\.(?:py|pyx|rst|txt|md|ipynb|ya?ml|feature)) )?(?P<marks>[.FEsxXRu,-]+)$"
)
_COUNTS = re.compile(
    r"^(?P<counts>\d+ [a-z]+(?: [a-z]+)?(?:, \d+ [a-z]+(?: [a-z]+)?)*|no tests ran)"
    r" in (?P<time>[\d.]+) ?s(?:econds)?(?: \([\d:, days]+\))?$"
)
_TAIL = re.compile(
    r"^.*(?P<word>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN)(?: \((?P<why>.*)\))?$"
)
_ONLY_COLLECTED = re.compile(r"^(?:\d+(?:/\d+)?|no) tests? collected\b.* in [\d.]+ ?s\b.*$")
_COLLECTED = re.compile(r"^(?:collecting (?:\.\.\. ?|\d+ items?.*?)?)?collected (\d+) items?(.*)$")
_WORKERS = re.compile(r"^\d+ workers? \[(\d+) items?\]")
_WORKERS_OLD = re.compile(r"^gw\d+ \[(\d+)\](?: / gw\d+ \[\d+\])*")
_WHEN = re.compile(r"^at (?:setup|call|teardown) of ")
_PATH = re.compile(r"^\S+\.\w+$|^\S*/\S*$")


class Live(NamedTuple):
    """A line that names a test and what became of it, while the run goes on."""

    id: str
    word: str
    reason: str | None = None
    percent: int | None = None


def split_percent(line: str) -> tuple[str, int | None]:
    """A line without pytest's progress at its end, and that progress in percent."""
    match = _PERCENT.search(line[-24:]) if line.endswith("]") else None
    if match is None:
        took = _TOOK.search(line[-16:]) if line.endswith(("s", "m")) else None
        return (line if took is None else line[: len(line) - len(took[0])].rstrip()), None
    body = line[: len(line) - len(match[0])]
    done = int(match["done"])
    percent = done if match["all"] is None else done * 100 // max(1, int(match["all"]))
    return body.rstrip(), percent


def without_glued(line: str) -> str:
    """A line up to the progress in it, where other output follows without a line end."""
    glued = _GLUED.search(line) if "%]" in line or "/" in line else None
    return line if glued is None else line[: glued.end()]


def is_node_id(text: str, *, strict: bool = True) -> bool:
    """Whether a text begins like a node id: a path, without blanks unless that is certain."""
    path, separator, _ = text.partition("::")
    return bool(separator) and bool(path) and (not strict or " " not in path)


def live(line: str) -> Live | None:
    """Reads `node-id WORD (reason)  [ 12%]`."""
    body, percent = split_percent(line.rstrip())
    reason = None
    if body.endswith(")"):
        start, word = max((body.rfind(mark), mark[1:-2]) for mark in _WITH_REASON)
        if start < 0:
            return None
        reason = body[start + len(word) + 3 : -1]
        name = body[:start]
    else:
        name, _, word = body.rpartition(" ")
        if word not in _ALL_WORDS:
            return None
    name = name.rstrip()
    if " <- " in name:
        name = _ORIGIN_AT_END.sub("", name)
    # With a percentage the line is pytest's own, and a folder may have a blank in its name.
    is_own = percent is not None and name.partition("::")[0].endswith(".py")
    if not is_node_id(name, strict=not is_own) or name.split(" ", 1)[0] in _ALL_WORDS:
        return None
    return Live(name, word, reason, percent)


def xdist(line: str) -> Live | None:
    """Reads `[gw0] [ 25%] WORD node-id`."""
    match = _XDIST.match(line)
    if match is None or match["word"] not in _ALL_WORDS:
        return None
    percent = match["percent"]
    return Live(match["id"], match["word"], None, None if percent is None else int(percent))


def is_heading(line: str) -> bool:
    """Whether a line is over what is told of a failure: `____ test ____`, `--- Captured … ---`."""
    is_name = line.startswith("___") and line.endswith("__")
    return is_name or (line[0] == "-" and " Captured " in line)


def without_origin(rest: str) -> str:
    """What stands behind an id, without where the test is defined."""
    return _ORIGIN_AT_START.sub("", rest).lstrip() if rest.startswith("<- ") else rest


def shown_with_fixtures(line: str) -> Live | None:
    """Reads `        node-id (fixtures used: a, b) WORD`, which `--setup-show` prints."""
    return live(_FIXTURES.sub("", line.strip()))


def printed_into(result: Live) -> bool:
    """Whether text that a test printed stands between its id and the word, as with `-s`.

    Only parameters hold blanks, and text without a bracket behind them is none of them.
    """
    if " " not in result.id or result.percent is not None:
        return False
    own = leading_id(result.id)
    path = own.partition("::")[0]
    return own != result.id and path.endswith(".py") and "]" not in result.id[len(own) :]


def tail(line: str) -> Live | None:
    """Reads `printed textWORD`: the end of a test whose output has no line end."""
    if not line.endswith(ENDS):
        return None
    match = _TAIL.match(line)
    return None if match is None else Live("", match["word"], match["why"])


def bare(line: str) -> Live | None:
    """Reads `WORD (reason)  [ 12%]`: the end of a test that printed something."""
    if not line.startswith(_ALL_WORDS):
        return None
    body, percent = split_percent(line.rstrip())
    word, _, rest = body.partition(" ")
    if word not in _ALL_WORDS or (rest and not (rest.startswith("(") and rest.endswith(")"))):
        return None
    return Live("", word, rest[1:-1] or None, percent)


def broken_word(id_and_rest: str, rest: str, following: str) -> Live | None:
    """Reads a line that was broken within its word: `node-id PAS` and `SED [ 58%]`.

    Args:
        id_and_rest: The node id of the first line.
        rest: What stands behind it.
        following: The next line.
    """
    body, percent = split_percent(following.rstrip())
    for word in WORDS:
        if rest and word.startswith(rest) and body == word[len(rest) :] and body:
            return Live(id_and_rest, word, None, percent)
    return None


class Sub(NamedTuple):
    """A line about a subtest."""

    id: str
    what: str
    passed: bool


def subtest(line: str) -> Sub | None:
    """Reads `node-id SUBFAILED[message] (i=1)  [ 12%]`; the id is empty for a bare line."""
    if "SUB" not in line:
        return None
    body, _ = split_percent(line.rstrip())
    match = _SUBTEST.search(f" {body}")
    if match is None:
        return None
    name, what = body[: max(0, match.start() - 1)], match["what"].strip()
    if not what and (before := _SUBTEST_BEFORE.match(name)):
        name, what = before["id"] or "", before["what"]
    if name and not is_node_id(name):
        return None
    return Sub(name, what, not match["word"].startswith("SUBFAIL"))


def _path_end(text: str) -> int:
    """Where the path of a node id ends: a folder may have a blank in its name."""
    end = text.find(".py::") + 3
    path = text[:end]
    return end if end > 3 and " - " not in path and ".py" not in path[:-3] else 0


def leading_id(text: str) -> str:
    """The node id that a text begins with: parameters may hold blanks and brackets."""
    start = _path_end(text) if " " in text else 0
    blank = text.find(" ", start)
    bracket = text.find("[", start)
    if bracket < 0 or -1 < blank < bracket:
        return text if blank < 0 else text[:blank]
    first = None
    close = text.find("]", bracket)
    while close >= 0:
        if close + 1 == len(text) or text[close + 1] == " ":
            head = text[: close + 1]
            if head.count("[") == head.count("]"):
                return head
            first = first or head
        close = text.find("]", close + 1)
    return first or text


class Entry(NamedTuple):
    """A line of the short test summary."""

    word: str
    id: str
    """A node id, or the path of a file that could not be collected; empty for counted skips."""
    message: str | None
    times: int = 1


def summary(line: str, known: Container[str]) -> Entry | None:
    """Reads `WORD node-id - message`, `SKIPPED [2] path:3: reason`, `SUBFAILED[m] node-id - …`.

    Args:
        line: The line.
        known: Ids that the log names elsewhere, which settle where an id ends.
    """
    word, _, rest = line.partition(" ")
    if "SUBFAIL" in line and (entry := _subtest_summary(line, known)):
        return entry
    if word not in WORDS or not rest.strip():
        return None
    if word == "SKIPPED" and (match := re.match(r"\[(\d+)\] (.*)$", rest)):
        return Entry(word, "", match[2], int(match[1]))
    if word == "PASSED":
        is_id = is_node_id(rest, strict=not _path_end(rest))
        return Entry(word, rest.rstrip(), None) if is_id else None
    test_id, message = _split(_WHEN.sub("", rest), known)
    if is_node_id(test_id, strict=not _path_end(test_id)) or (
        word == "ERROR" and _PATH.match(test_id)
    ):
        return Entry(word, test_id, message)
    return None


def _subtest_summary(line: str, known: Container[str]) -> Entry | None:
    match = _SUBTEST_SUMMARY.match(line) or _SUBTEST_BEFORE_SUMMARY.match(line)
    if match is None:
        return None
    test_id, message = _split(match["id"].rstrip(), known)
    what = (match["what"] or "").strip()
    return Entry("SUBFAILED", test_id, f"{what}: {message}" if message else what)


def worker_subtest(line: str) -> Entry | None:
    """Reads `[gw0] [ 79%] SUBFAILED[m] (i=1) node-id`."""
    return _subtest_summary(_WORKER.sub("", line), ()) if "SUBFAIL" in line else None


def result(line: str) -> Live | Entry | None:
    """Reads a line that looks like the result of a test in either form."""
    said = live(line) or xdist(line)
    if said is not None and said.word in WORDS:
        return said
    entry = summary(line, ())
    return entry if entry is not None and entry.id else None


def _split(rest: str, known: Container[str]) -> tuple[str, str | None]:
    """An id and its message, between which ` - ` stands, which either may hold, too."""
    cut = rest.find(" - ")
    while cut >= 0:
        if rest[:cut] in known:
            return rest[:cut], rest[cut + 3 :].strip() or None
        cut = rest.find(" - ", cut + 3)
    if rest.rstrip() in known:
        return rest.rstrip(), None
    test_id = leading_id(rest)
    message = rest[len(test_id) :].removeprefix(" -").strip()
    return test_id, message or None


def marks(line: str) -> tuple[str | None, str, bool] | None:
    """Reads `file.py ..F.  [ 12%]`.

    Returns:
        The file, the marks, and whether there is progress behind them.
    """
    body, percent = split_percent(line.rstrip())
    match = _MARKS.match(body)
    return None if match is None else (match["file"], match["marks"], percent is not None)


def collected(line: str) -> int | None:
    """How many tests are going to run, by `collected 40 items / 3 deselected / 37 selected`."""
    match = _COLLECTED.match(line)
    if match is None:
        other = _WORKERS.match(line) or _WORKERS_OLD.match(line)
        return int(other[1]) if other else None
    if selected := re.search(r"/ (\d+) selected", match[2]):
        return int(selected[1])
    deselected = re.search(r"/ (\d+) deselected", match[2])
    return max(0, int(match[1]) - (int(deselected[1]) if deselected else 0))


def only_collected(line: str) -> bool:
    """Whether a closing line says that nothing was to be run: `2 tests collected in 0.01s`."""
    return "collected" in line and _ONLY_COLLECTED.match(line) is not None


_COUNTED = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "errors": "error",
    "skipped": "skipped",
    "xfailed": "xfailed",
    "xpassed": "xpassed",
}


def closing(text: str) -> GroupCounts | None:
    """Reads `1 failed, 2 passed in 0.10s`, without the line that pytest draws around it."""
    match = _COUNTS.match(text)
    if match is None:
        return None
    counts: dict[str, int] = {}
    for part in match["counts"].split(", "):
        number, _, word = part.partition(" ")
        if number.isdigit() and word in _COUNTED:
            counts[_COUNTED[word]] = int(number)
        elif number.isdigit() and word.partition(" ")[0] not in _OTHER_WORDS:
            return None
    return GroupCounts(expected=sum(counts.values()), **counts)


_OTHER_WORDS = frozenset({"warning", "warnings", "rerun", "deselected", "subtests", "subtest"})
