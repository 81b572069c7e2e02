"""The page: one HTML file that needs no network and no script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from importlib.resources import files

from .._api import info
from . import _words as words
from ._collect import CHOSEN, Findings
from ._sections import Plot, Section
from ._svg import FONT, THEME, svg_of
from ._texts import Batch, Confusion

LONGEST_TEXT = 240
# Nothing is loaded and nothing runs, whatever a label says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(found: Findings, first: Plot, sections: Iterable[Section]) -> str:
    """The whole file; the first plot stands beside the first words."""
    title = words.title(found)
    alarm, warnings = words.about_false_negatives(found)
    said = "".join(f"<p>{marked(text)}</p>" for text in warnings)
    note = f'<div class="note{" warn" if alarm else ""}">{said}</div>' if said else ""
    body = "".join(_section(found, section) for section in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>gcbs: {html.escape(title)}</title>
<style>
{_css()}</style>
</head>
<body>
<header>
<p class="facts">{_facts(found)}</p>
<h1>{html.escape(title)}</h1>
<div class="grid opening">
<div><p class="reading">{marked(words.about_the_gap(found))}</p>
{note}</div>
{_figure(first)}</div>
{_tiles(found)}
</header>
<main>{body}</main>
<footer>gcbs {html.escape(info().version)}. The page took {found.seconds:.1f} s. The words and quantities are
explained in docs/method.md and docs/gap.md of the project. Flags are those of the program; in Python
<code>--relative-margin 0.05</code> is <code>relative_margin=0.05</code>.</footer>
</body>
</html>
"""


def marked(text: str) -> str:
    """Escaped, with `code` and **bold**."""
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\*\*(.*?)\*\*", r"<strong>\1</strong>", text)


def _css() -> str:
    light, dark = ("".join(f"--{name}: {pair[at]}; " for name, pair in THEME.items()) for at in (0, 1))
    theme = (
        f":root {{ --font: {FONT}; {light}}}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"
    )
    return theme + files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def _facts(found: Findings) -> str:
    views = "two views of one matrix" if found.views else "x and y"
    facts = (
        f"{found.rows:,} pairs, {found.width:,} dimensions, {views}",
        f"{found.plan.batches:,} batches of {found.batch_size:,}",
        f"method {found.plan.method}",
        f"temperature {found.gap.options['temperature']:g}",
    )
    return " &middot; ".join(html.escape(fact) for fact in facts)


def _tiles(found: Findings) -> str:
    gap, chosen = found.gap, found.chosen
    tiles = []
    if chosen.gap_closed is not None and gap.oracle.gap_closed is not None:
        more = f"random 0 %, at most {words.percent(gap.oracle.gap_closed)}"
        tiles.append(("good", words.percent(chosen.gap_closed), "of the gap closed", more))
    more = (
        f"random {words.loss_text(gap.random.loss_mean)}, all pairs {words.loss_text(gap.loss_global.both)}"
    )
    tiles.append(("", words.loss_text(chosen.loss_train.both), "loss in batches", more))
    ratio = words.times(found)
    if ratio is not None:
        more = f"{chosen.edges_in_batch:,}, by chance {found.random_edges:,.0f}"
        tiles.append(
            (
                "",
                f"{ratio:,.{0 if ratio >= 10 else 1}f}&nbsp;&times;",
                "the hard negatives in batches",
                more,
            )
        )
    share = chosen.outranking_in_batch
    if share is not None:
        kind = "bad" if share >= words.MANY_OUTRANK else ""
        tiles.append(
            (kind, words.percent(share), "of them outrank their positive", "a sign of false negatives")
        )
    items = (f'<li><b class="{k}">{v}</b><span>{a}</span><span>{b}</span></li>' for k, v, a, b in tiles)
    return f'<ul class="tiles">{"".join(items)}</ul>'


def _section(found: Findings, section: Section) -> str:
    columns = {1: "", 2: " two", 3: " three"}[section.columns]
    intro = f"<p>{marked(section.intro)}</p>" if section.intro else ""
    shown = "".join(_figure(plot) for plot in section.plots)
    beside = _options(found) if section.name == "run" else ""
    after = _texts(found) + _table(found) if section.name == "along" else ""
    return (
        f'<section id="{section.name}"><h2>{html.escape(section.title)}</h2>{intro}'
        f'<div class="grid{columns}">{shown}{beside}</div></section>\n{after}'
    )


def _figure(plot: Plot) -> str:
    drawn = svg_of(plot.figure, plot.name, plot.title, plot.alt)
    if plot.narrow is not None:
        small = svg_of(plot.narrow, f"{plot.name}-narrow", plot.title, plot.alt)
        drawn = f'<div class="wide">{drawn}</div><div class="narrow">{small}</div>'
    return (
        f'<figure id="{plot.name}"><figcaption><h3>{html.escape(plot.title)}</h3>'
        f'<p class="how">{marked(plot.how)}</p></figcaption>{drawn}</figure>\n'
    )


def _table(found: Findings) -> str:
    gap = found.gap
    spread = f"{gap.random.loss_mean:.4f} &plusmn; {gap.random.loss_std:.4f}"
    missing = f"{gap.loss_global.both - gap.random.loss_mean:.4f}"
    rows = [("", "random", spread, missing, "0 %", f"{found.random_edges:,.0f}", "")]
    for order in gap.orders:
        closed = "" if order.gap_closed is None else f"{100 * order.gap_closed:.1f} %"
        outranking = "" if order.outranking_in_batch is None else f"{100 * order.outranking_in_batch:.1f} %"
        name = f"{found.plan.method}, {CHOSEN}" if order is found.chosen else order.name
        kind = ' class="chosen"' if order is found.chosen else ""
        edges = f"{order.edges_in_batch:,}"
        loss = f"{order.loss_train.both:.4f}"
        rows.append((kind, html.escape(name), loss, f"{order.gap:.4f}", closed, edges, outranking))
    best = gap.oracle
    closed = "" if best.gap_closed is None else f"{100 * best.gap_closed:.1f} %"
    rest = f"{gap.loss_global.both - best.loss_train:.4f}"
    rows.append(("", "oracle", f"{best.loss_train:.4f}", rest, closed, "", ""))
    rows.append(("", "all pairs", f"{gap.loss_global.both:.4f}", "0", "100 %", f"{gap.edges:,}", ""))
    head = ("order", "loss", "gap", "closed", "edges in batches", "outranking")
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = "".join(
        f"<tr{kind}>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>" for kind, *cells in rows
    )
    return (
        '<section id="numbers"><h2>The numbers</h2>'
        "<p>Outranking is the share of the edges in batches that are more similar than their own "
        "positive.</p>"
        f'<div class="scroll" tabindex="0"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div></section>\n"
    )


def _options(found: Findings) -> str:
    hidden = ("x", "y", "output", "edges", "extra_output", "per_batch", "verdict", "orders", "isa", "threads")
    used = {**found.gap.options, **found.plan.options}
    items = "".join(
        f"<div><dt>{html.escape(name.replace('_', ' '))}</dt><dd>{html.escape(_value(value))}</dd></div>"
        for name, value in sorted(used.items())
        if name not in hidden and value is not None and value is not False and value != []
    )
    how = "As the run used them; what is not listed was off."
    return f'<div><h3>Options</h3><p class="how">{how}</p><dl class="options">{items}</dl></div>'


def _value(value: object) -> str:
    if value is True:
        return "on"
    if isinstance(value, list):
        return ", ".join(str(entry) for entry in value)
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _texts(found: Findings) -> str:
    if not found.texts:
        return ""
    batches = "".join(_batch(batch) for batch in found.texts)
    key = '<span class="key" style="background: var(--{})"></span>'
    other, own = key.format("ordered"), key.format("global")
    if any(confusion.own is not None for batch in found.texts for confusion in batch.confusions):
        how = (
            f"Each box: an x, the most similar y of another pair in its batch {other}, and its own y {own}. "
            "If the other would do as well as its own, it is a false negative."
        )
    else:
        how = (
            f"Each box: a pair, and the pair of its batch whose y is most similar to its x {other}. "
            "If they belong together, it is a false negative."
        )
    return f'<section id="texts"><h2>The hardest batches, to read</h2><p>{how}</p>{batches}</section>\n'


def _batch(batch: Batch) -> str:
    hardness = "" if batch.hardness is None else f"<small>hardness {words.percent(batch.hardness)}</small>"
    boxes = "".join(_confusion(confusion) for confusion in batch.confusions)
    title = f"<h3>{html.escape(batch.title)}{hardness}</h3>"
    return f'<div class="batch">{title}<ul class="confusions">{boxes}</ul></div>'


def _confusion(confusion: Confusion) -> str:
    if confusion.own is None:
        own = ""
    elif confusion.own == confusion.other:
        own = '<div class="same">the same text as its own</div>'
    else:
        own = _met("own", confusion.positive, confusion.own)
    return (
        f'<li><div class="anchor">{_text(confusion.anchor)}</div>'
        f"{_met('', confusion.similarity, confusion.other)}{own}</li>"
    )


def _met(kind: str, similarity: float, text: str) -> str:
    width = 100 * min(1.0, max(0.0, similarity))
    value = f"{round(similarity, 2) + 0.0:.2f}"  # never -0.00
    what = "own" if kind else "other"
    return (
        f'<div class="met"><span class="meter {kind}" title="similarity of its {what} y">'
        f'<i style="width: {width:.0f}%"></i><b>{value}</b></span>{_text(text)}</div>'
    )


def _text(text: str) -> str:
    """A label: never markup, never longer than a few lines, never able to turn its surroundings around."""
    text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    text = "".join(letter for letter in text if letter.isprintable())
    cut = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return f"<bdi>{html.escape(cut)}</bdi>"
