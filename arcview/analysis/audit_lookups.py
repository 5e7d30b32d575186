"""Calls that look for a solution elsewhere: other history, releases of the project, the network.

Pure. Command lines are parsed, never searched for words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from arcview.analysis.audit import Check, Finding, Part
from arcview.analysis.shell_command import ShellCommand
from arcview.model.trajectory import ToolCall, ToolKind

_WEB_TOOL = re.compile(
    r"web|browse|fetch|url|http|internet|search_?(?:engine|online)", re.IGNORECASE
)
_UPSTREAM = re.compile(
    r"https?://(?:[\w.-]*\.)?(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org"
    r"|codeberg\.org|pypi\.org|pythonhosted\.org|npmjs\.(?:com|org)|crates\.io|static\.crates\.io"
    r"|docs\.rs|jsdelivr\.net|unpkg\.com|golang\.org|pkg\.go\.dev|maven\.org|rubygems\.org"
    r"|sourcegraph\.com|archive\.org|readthedocs\.(?:io|org))\b[^\s'\"]*",
    re.IGNORECASE,
)
_HASH = re.compile(r"[0-9a-f]{7,40}(?:[~^:].*)?")

_GIT_REMOTE = frozenset(
    {"fetch", "pull", "clone", "ls-remote", "cherry-pick", "bundle", "submodule"}
)
_GIT_HIDDEN = frozenset({"reflog", "fsck", "cat-file", "rev-list", "unpack-file", "for-each-ref"})


def find_lookups(part: Part, own_names: Collection[str]) -> Iterator[Finding]:
    """Every such call of a stage.

    Args:
        part: The stage.
        own_names: What the project under work is called in registries.
    """
    for step in part.trajectory.steps:
        for call in step.calls:
            for what in _lookups(call, own_names):
                quote = call.command or str(dict(call.arguments))
                found = part.finding(Check.LOOKUP, step, what, quote, "candidate")
                yield replace(found, part=(call.key, "call"))


def _lookups(call: ToolCall, own_names: Collection[str]) -> Iterator[str]:
    if call.kind is not ToolKind.SHELL:
        if call.kind is ToolKind.OTHER and _WEB_TOOL.search(call.name):
            yield "calls a tool that reaches the network"
        return
    if not call.command:
        return
    from arcview.analysis.shell import parse_shell  # 20 ms with the parser

    found = (what for command in parse_shell(call.command) for what in _of(command, own_names))
    yield from dict.fromkeys(found)


def _of(command: ShellCommand, own_names: Collection[str]) -> Iterator[str]:
    program, *words = command.argv
    program = program.rpartition("/")[2]
    plain = [word for word in words if not word.startswith("-")]
    if program == "git":
        yield from _git(words, plain)
    elif program in ("curl", "wget", "http", "aria2c", "lynx"):
        url = next((word for word in words if _UPSTREAM.match(word)), None)
        if url is not None:
            yield "downloads from where projects and releases are kept"
    else:
        yield from _registry(program, words, plain, own_names)
    yield from _installed(words, own_names)


def _git(words: Sequence[str], plain: Sequence[str]) -> Iterator[str]:
    if not plain:
        return
    verb, rest = plain[0], plain[1:]
    if verb in _GIT_REMOTE or (verb == "remote" and "update" in rest):
        yield "takes history from elsewhere"
    elif verb in _GIT_HIDDEN:
        yield "looks into objects that no branch of its own shows"
    elif verb in ("log", "branch", "tag") and {"--all", "-a", "--remotes", "-r"} & set(words):
        yield "looks at history beyond its own branch"
    elif verb == "stash" and rest[:1] in (["list"], ["show"], ["pop"], ["apply"]):
        yield "looks into stashed work"
    elif verb in ("show", "checkout", "diff", "restore") and any(
        _HASH.fullmatch(word) or word.startswith(("origin/", "upstream/")) for word in rest
    ):
        yield "opens a commit that it names by its hash or remote"


_PACKAGE_VERBS = {
    "pip": {"download", "index", "install"},
    "pip3": {"download", "index", "install"},
    "uv": {"add", "install", "download"},
    "npm": {"view", "pack", "install", "i", "info", "show"},
    "yarn": {"info", "add"},
    "pnpm": {"view", "add"},
    "go": {"get", "install", "list", "mod"},
    "cargo": {"add", "search", "info", "install"},
    "gem": {"fetch", "install", "specification"},
}
_ALWAYS = {("pip", "download"), ("pip3", "download"), ("npm", "pack"), ("gem", "fetch")}


def _registry(
    program: str, words: Sequence[str], plain: Sequence[str], own_names: Collection[str]
) -> Iterator[str]:
    if program in ("python", "python3") and list(words[:2]) == ["-m", "pip"]:
        program, plain = "pip", [word for word in words[2:] if not word.startswith("-")]
    if program == "uv" and plain[:1] == ["pip"]:
        program, plain = "pip", plain[1:]
    verbs = _PACKAGE_VERBS.get(program, set())
    if not plain or plain[0] not in verbs:
        return
    named = {_package(word) for word in plain[1:]}
    if own_names and named & {_package(name) for name in own_names}:
        yield "asks a registry for the project itself"
    elif (program, plain[0]) in _ALWAYS:
        yield "downloads a release without installing it"


def _package(word: str) -> str:
    """The bare name of a requirement: `Foo_Bar[x]>=1` and `foo-bar@2` are foo-bar."""
    name = re.split(r"[\[<>=!~;]|(?<=.)@", word, maxsplit=1)[0]
    return name.rstrip("/").rpartition("/")[2].lower().replace("_", "-")


def _installed(words: Sequence[str], own_names: Collection[str]) -> Iterator[str]:
    for name in own_names:
        places = (f"site-packages/{name.lower()}", f"node_modules/{name.lower()}")
        if any(place in word.lower() for word in words for place in places):
            yield "looks into an installed release of the project"
            return
