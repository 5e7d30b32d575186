"""Export blocks → one HTML file that opens offline: no script, nothing to load, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from arcview.session.export_blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Fold,
    Heading,
    Paragraph,
    Table,
    Tone,
)

_STYLE = """\
:root { color-scheme: light dark; --good: #1a7f37; --bad: #b3261e; --unknown: #8a6100;
  --line: #d0d7de; --soft: #f6f8fa; --dim: #57606a; --back: #ffffff; --text: #1f2328; }
@media (prefers-color-scheme: dark) { :root { --good: #57ab5a; --bad: #f47067; --unknown: #daaa3f;
  --line: #3d444d; --soft: #161b22; --dim: #9198a1; --back: #0d1117; --text: #e6edf3; } }
body { background: var(--back); color: var(--text); margin: 0 auto; max-width: 72rem;
  padding: 1.5rem; font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem } h2 { font-size: 1.2rem; margin-top: 2.2rem;
  border-top: 1px solid var(--line); padding-top: 1rem } h3 { font-size: 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .6rem 0 }
th, td { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left;
  vertical-align: top }
th { background: var(--soft) } td.n { text-align: right; font-variant-numeric: tabular-nums }
pre, code { font: 13px/1.45 ui-monospace, monospace }
pre { background: var(--soft); border: 1px solid var(--line); padding: .6rem; overflow-x: auto;
  margin: .4rem 0 } details { margin: .4rem 0 .4rem .2rem; border-left: 2px solid var(--line);
  padding-left: .8rem } summary { cursor: pointer } .caption { color: var(--dim);
  margin: .5rem 0 0 }
.good { color: var(--good) } .bad { color: var(--bad) } .unknown { color: var(--unknown) }
"""

_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
"""


def html(title: str, blocks: Iterable[Block]) -> str:
    """A whole document; its text must be clean and masked, escaping is done here."""
    body = "\n".join(part for block in blocks for part in _block(block))
    return f"{_HEAD.format(title=_text(title), style=_STYLE)}{body}\n</body>\n</html>\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text, anchor):
            mark = f' id="{_text(anchor)}"' if anchor else ""
            yield f"<h{level}{mark}>{_text(text)}</h{level}>"
        case Paragraph(text, tone):
            yield f"<p{_class(tone)}>{_text(text)}</p>"
        case Code(text, caption):
            if caption:
                yield f'<p class="caption">{_text(caption)}</p>'
            yield f"<pre>{_text(text)}</pre>"
        case Bullets(items):
            yield "<ul>"
            yield from (f"<li>{_cell(item)}</li>" for item in items)
            yield "</ul>"
        case Table():
            yield from _table(block)
        case Fold(summary, inner, tone, is_open):
            yield f"<details{' open' if is_open else ''}>"
            yield f"<summary{_class(tone)}>{_text(summary)}</summary>"
            for one in inner:
                yield from _block(one)
            yield "</details>"


def _table(table: Table) -> Iterator[str]:
    yield "<table>"
    yield "<tr>" + "".join(f"<th>{_text(text)}</th>" for text in table.head) + "</tr>"
    for row in table.rows:
        cells = []
        for place, cell in enumerate(row):
            number = ' class="n"' if place in table.right else ""
            cells.append(f"<td{number}>{_cell(cell)}</td>")
        yield "<tr>" + "".join(cells) + "</tr>"
    yield "</table>"


def _cell(cell: Cell) -> str:
    text = f"<code>{_text(cell.text)}</code>" if cell.code else _text(cell.text)
    return text if cell.tone == "plain" else f"<span{_class(cell.tone)}>{text}</span>"


def _class(tone: Tone) -> str:
    return "" if tone == "plain" else f' class="{tone}"'


def _text(text: str) -> str:
    return escape(text, quote=True)
