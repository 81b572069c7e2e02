"""The page of gcbs.report: whole, safe whatever labels say, and readable by everybody."""

import re
import warnings
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from report_data import HOSTILE, make_pairs

pytest.importorskip("matplotlib")

from gcbs.report import _svg, report  # noqa: E402


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report on 300 pairs with hostile labels: the Report, its text, the folder of plots."""
    folder = tmp_path_factory.mktemp("report")
    x, y = make_pairs()
    labels = [HOSTILE[i % len(HOSTILE)] + f" {i}" for i in range(len(x))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = report(x, y, batch_size=30, labels=labels, path=folder / "page.html", svg=folder / "svg")
    return done, done.path.read_text(encoding="utf-8"), folder / "svg"


class Outline(HTMLParser):
    """Checks that elements close as they opened; collects what matters."""

    VOID = {"meta", "br", "img", "link", "hr", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.names, self.attributes = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag


@pytest.fixture(scope="module")
def outline(page):
    found = Outline()
    found.feed(page[1])
    return found


def test_the_page_is_whole(outline, page):
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    referred = (
        re.findall(r'(?:href="|url\()#([^")]+)', page[1])
        + " ".join(value for name, value in outline.attributes if name == "aria-labelledby").split()
    )
    assert referred and set(referred) <= set(outline.ids)
    assert len(page[1].encode()) < 1_500_000


def test_the_page_needs_nothing_from_elsewhere(outline, page):
    assert not {"script", "link", "iframe", "object", "embed", "form"} & set(outline.names)
    for name, value in outline.attributes:
        assert not name.startswith("on")
        if name in ("href", "src", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"@import|url\((?!#)", page[1])
    assert "default-src 'none'" in page[1]


def test_labels_are_text_whatever_they_say(page):
    _, text, _ = page
    assert "<script" not in text and "<img" not in text and "onerror" in text
    assert "&lt;/title&gt;&lt;/style&gt;&lt;script&gt;alert(1)" in text
    assert "\u202e" not in text and "\x00" not in text and "\x1b" not in text
    assert "x" * 300 not in text
    boxes = re.findall(r"<bdi>(.*?)</bdi>", text)
    assert boxes and all("<" not in box for box in boxes)


def test_every_picture_has_a_title_and_says_what_it_shows(outline, page):
    pictures = re.findall(r"<svg .*?</svg>", page[1], re.DOTALL)
    assert len(pictures) >= 13
    for picture in pictures:
        assert 'role="img"' in picture
        assert re.search(r"<title id=[^>]+>[^<]{5,}</title><desc id=[^>]+>[^<]{30,}</desc>", picture)
    assert len(re.findall(r'class="how">[^<]{20}', page[1])) >= 10
    assert outline.names.count("h1") == 1 and outline.names.count("html") == 1


def test_colours_follow_the_theme(page):
    for picture in re.findall(r"<svg .*?</svg>", page[1], re.DOTALL):
        assert "var(--" in picture
        without = re.sub(r"data:image/png;base64,[^\"]*|url\(#[^)]*\)|\"#[^\"]*\"", "", picture)
        assert not re.search(r"#[0-9a-f]{6}\b", without)
        assert "font-family" not in picture


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_is_enough(theme):
    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(name):
        pair = sorted(luminance(_svg.THEME[part][theme]) for part in (name, "page"))
        return (pair[1] + 0.05) / (pair[0] + 0.05)

    assert contrast("ink") >= 7 and contrast("soft") >= 4.5  # text (WCAG 2, AAA and AA)
    assert all(contrast(name) >= 3 for name in ("random", "ordered", "global"))  # graphics


def test_a_report_is_the_same_every_time(page, tmp_path):
    done, text, _ = page
    x, y = make_pairs()
    labels = [HOSTILE[i % len(HOSTILE)] + f" {i}" for i in range(len(x))]
    again = report(x, y, batch_size=30, labels=labels, path=tmp_path / "again.html").path.read_text()

    def without_times(page):
        page = re.sub(r'<section id="run">.*?</section>', "", page, flags=re.DOTALL)
        return re.sub(r"took [\d.]+ s", "", page)

    assert without_times(again) == without_times(text)


def test_single_plots_are_files_that_stand_alone(page):
    _, text, folder = page
    files = sorted(folder.iterdir())
    assert len(files) >= 12
    for file in files:
        root = ElementTree.parse(file).getroot()
        assert root.tag.endswith("svg") and root.get("width") and root.get("height")
        written = file.read_text(encoding="utf-8")
        assert "var(--" not in written and _svg.PAGE in written
        assert f'id="{file.stem}"' in text


def test_a_notebook_shows_the_page(page):
    shown = page[0]._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<script" not in shown


def test_the_style_of_others_is_left_alone(tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    report(*make_pairs(60), batch_size=20, methods=[], path=tmp_path / "page.html")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 60},
        {"batch_size": 2, "method": "natural"},
        {"batch_size": 20, "method": "random"},
        {"batch_size": 20, "paper": True},
        {"batch_size": 20, "max_score": -0.99},
        {"batch_size": 20, "temperature": 0.0005},
    ],
    ids=str,
)
def test_unusual_options_give_a_page(options, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report(*make_pairs(60), **options, labels=["a"] * 60, path=tmp_path / "page.html", methods=[])
    assert "</html>" in (tmp_path / "page.html").read_text()


def test_kinds_of_input_give_the_same_page(tmp_path):
    torch = pytest.importorskip("torch")
    x, y = (side.astype(np.float16) for side in make_pairs(100))
    pages = []
    for name, sides in (
        ("numpy", (x, y)),
        ("wide", (x.astype(np.float64), y.astype(np.float64))),
        ("torch", (torch.from_numpy(x), torch.from_numpy(y))),
    ):
        done = report(*sides, batch_size=20, methods=[], path=tmp_path / f"{name}.html")
        pages.append(re.sub(r'<section id="run">.*', "", done.path.read_text(), flags=re.DOTALL))
    assert pages[0] == pages[1] == pages[2]
    report(
        torch.from_numpy(x).bfloat16().requires_grad_(), batch_size=20, methods=[], path=tmp_path / "b.html"
    )
