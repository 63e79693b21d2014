"""What a page is made of: text, tables, figures, the whole and its style."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from elision.evaluate.tables import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --text: #1d1f21; --soft: #5b6066; --rule: #d7dade;
  --band: #f4f5f7; --link: #1b5fa8;
  --m0: #8a8f94; --m1: #a87a00; --m2: #17877b; --m3: #6c8312; --m4: #1b6ca8;
  --m5: #c25fae; --m6: #7a4bc2; --m7: #d96a1d; --m8: #b92b27; --m9: #8c5a2b;
  --m10: #3f7d3a; --m11: #1d1f21; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --text: #e6e8ea; --soft: #a2a8ae;
  --rule: #3a4046; --band: #1f2327; --link: #79b4f0;
  --m0: #8f969d; --m1: #dba92c; --m2: #44c4b4; --m3: #a9c43c; --m4: #5aaef0;
  --m5: #ec92da; --m6: #b18cf5; --m7: #f79a54; --m8: #f2706b; --m9: #cf9b6a;
  --m10: #7fca78; --m11: #f2f4f6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--paper);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0 1rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .8rem;
  border-top: 2px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p, dl, ul { margin: .4rem 0; max-width: 44rem; }
a { color: var(--link); }
.note { color: var(--soft); font-size: .9rem; }
pre { padding: .7rem; background: var(--band); border-radius: .3rem; white-space: pre-wrap; }
code { font: .9em ui-monospace, monospace; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; overflow-wrap: normal; unicode-bidi: isolate; }
thead th { vertical-align: bottom; white-space: normal; color: var(--soft); font-weight: 600; }
tbody th { font-weight: 500; }
.t { text-align: left; }
tr > :first-child { position: sticky; left: 0; background: var(--paper); }
.best { font-weight: 700; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--link); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: 0 2rem; align-items: start; }
.pair > * { min-width: 0; }
figure { margin: .8rem 0; min-width: 0; }
figcaption { font-size: .9rem; color: var(--soft); }
svg { display: block; max-width: 100%; height: auto; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
.small { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.3rem, 1fr));
  gap: .4rem .8rem; }
.small figure { margin: 0; }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; list-style: none; padding: 0;
  max-width: none; font-size: .9rem; }
.key li { display: flex; align-items: center; gap: .35rem; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0; }
"""


class Entry(NamedTuple):
    """A field of a table."""

    text: str
    best: bool = False


def page(parts: Iterable[str]) -> str:
    """A page that asks for nothing from elsewhere, and may not."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            (
                '<meta http-equiv="Content-Security-Policy"'
                " content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            ),
            "<title>elision bench</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            *parts,
            "</body>",
            "</html>",
            "",
        ]
    )


def escaped(text: str) -> str:
    """A text as HTML."""
    return escape(one_line(text))


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str | Entry]],
    *,
    texts: set[int],
) -> str:
    """A table that scrolls sideways if need be; the columns that are not texts are numbers."""
    text = ' class="t"'
    top = "".join(
        f'<th scope="col"{text if place in texts else ""}>{escaped(head)}</th>'
        for place, head in enumerate(heads)
    )
    body = []
    for row in rows:
        line = []
        for place, entry in enumerate(row):
            entry = entry if isinstance(entry, Entry) else Entry(entry)
            names = [*(["t"] if place in texts else []), *(["best"] if entry.best else [])]
            tag, given = ("td", "") if place else ("th", ' scope="row"')
            given += f' class="{" ".join(names)}"' if names else ""
            line.append(f"<{tag}{given}>{escaped(entry.text)}</{tag}>")
        body.append(f"<tr>{''.join(line)}</tr>")
    inside = "\n".join(body)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{inside}\n</tbody></table></div>"
    )


def folded(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str | Entry]],
    *,
    texts: set[int] | None = None,
    note: str = "",
) -> str:
    """A long table, folded away."""
    said = f'<p class="note">{escaped(note)}</p>' if note else ""
    inside = table(heads, rows, texts=texts or {0})
    return f"<details><summary>{escaped(title)}</summary>{said}{inside}</details>" if rows else ""


def captioned(svg: str, caption: str) -> str:
    """A drawing with a text below."""
    return f"<figure>{svg}<figcaption>{escaped(caption)}</figcaption></figure>"


def titled(svg: str, title: str) -> str:
    """A drawing with its name above."""
    return f"<figure><figcaption>{escaped(title)}</figcaption>{svg}</figure>"
