"""Figures of matplotlib as SVG that belongs to a page: text stays text, colours follow the page's theme.

Plots are drawn in the colours of the light theme. In the page each of them becomes a CSS variable, so that
one drawing serves light, dark and print. Files of single plots keep the light colours, on white.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# name: light, dark. No two light colours are the same: they are replaced by what they are.
THEME = {
    "ink": ("#1b1f24", "#e8eaed"),
    "soft": ("#59626d", "#a7b0ba"),
    "line": ("#d5d9de", "#3a414a"),
    "page": ("#ffffff", "#14171b"),
    "random": ("#858e99", "#8b95a1"),
    "ordered": ("#d9480f", "#ff8552"),
    "global": ("#1864ab", "#66b2f5"),
    "gap": ("#eceef1", "#262c33"),
    "other": ("#b3bac3", "#59626c"),
}
INK, SOFT, LINE, PAGE, RANDOM, ORDERED, GLOBAL, GAP, OTHER = (light for light, _ in THEME.values())
# Of pixels, which know no variables: these stand out on white and on black.
PIXEL_INSIDE, PIXEL_OUTSIDE = (232, 89, 12), (96, 134, 188)

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
JOINS = "stroke-linejoin: round; stroke-linecap: butt"
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gcbs",
    "svg.image_inline": True,
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.labelsize": 9.5,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "legend.handlelength": 1.5,
    "legend.columnspacing": 1.4,
    "legend.borderaxespad": 0.2,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.8,
    "text.color": INK,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


@contextmanager
def style() -> Iterator[None]:
    """How plots look, while they are drawn and while they are written."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        rc: dict[Any, Any] = STYLE
        matplotlib.rcParams.update(rc)
        yield


def svg_of(figure: Figure, name: str, title: str, description: str, inline: bool = True) -> str:
    """One <svg> element with a title and a description, that no other one on the page disturbs."""
    buffer = io.StringIO()
    FigureCanvasSVG(figure)
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(buffer, format="svg", metadata=nothing)
    figure.set_layout_engine("none")  # laid out once: drawn again, it is the same
    head, body = buffer.getvalue().split("<svg", 1)[1].split(">", 1)
    for unwanted in (
        r"<metadata>.*?</metadata>",
        r"<!--.*?-->",
        r"<style.*?</style>",
        r"font-family: [^;\"]*;? ?",
    ):
        body = re.sub(unwanted, "", body, flags=re.DOTALL)
    body = re.sub(r"font: (?:(\d{3}|bold) )?([\d.]+)px [^;\"]*", _font, body)
    body = _own_ids(body, name)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    size = "" if inline else "".join(re.findall(r' (?:width|height)="[^"]*"', head))
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box[0]}{size}'
        f' role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-desc">{html.escape(description)}</desc>'
    )
    if not inline:
        rules = f"svg * {{ {JOINS} }} text {{ font-family: {FONT} }}"
        return f'{root}<style>{rules}</style><rect width="100%" height="100%" fill="{PAGE}"/>{body}'
    for variable, (light, _) in THEME.items():
        body = body.replace(light, f"var(--{variable})")
    return root + body


def _own_ids(body: str, name: str) -> str:
    """Ids that start with the plot's name; those that nothing refers to are left out."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', body))

    def kept(match: re.Match[str]) -> str:
        return f' id="{name}-{match[1]}"' if match[1] in used else ""

    body = re.sub(r' id="([^"]*)"', kept, body)
    body = re.sub(r'(href="|url\()#', rf"\g<1>#{name}-", body)
    return re.sub(r">\s+<", "><", body)


def _font(match: re.Match[str]) -> str:
    """Older matplotlib writes a shorthand."""
    weight = f"; font-weight: {match[1]}" if match[1] else ""
    return f"font-size: {match[2]}px{weight}"
