"""The page of gcbs.report as a browser shows it: quiet, within the screen, light and dark, on paper."""

import os
import shutil
import subprocess

import pytest
from report_data import HOSTILE, make_pairs

pytest.importorskip("matplotlib")

from gcbs.report import _svg, report  # noqa: E402
from PIL import Image  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium (tools/install_packages.sh browser)")

DARK = "--blink-settings=preferredColorScheme=0"
WIDTHS = {"desktop": 1280, "tablet": 800, "phone": 390, "small phone": 320}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    x, y = make_pairs(400)
    labels = [(HOSTILE[i % len(HOSTILE)], f"y {i} " + "word" * (i % 50)) for i in range(len(x))]
    return report(x, y, batch_size=25, labels=labels, path=tmp_path_factory.mktemp("page") / "page.html").path


@pytest.fixture
def browse(tmp_path):
    """Opens a file in a browser of its own; returns what that printed."""

    def browse(file, *flags):
        command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}"]
        command += ["--enable-logging=stderr", "--virtual-time-budget=3000", *flags, f"file://{file}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done

    return browse


def console(done):
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def colours(file):
    """The page's colour, and how many others there are."""
    picture = Image.open(file).convert("RGB")
    return "#{:02x}{:02x}{:02x}".format(*picture.getpixel((2, 2))), len(picture.getcolors(1 << 24))


def test_the_console_stays_empty(browse, page, tmp_path):
    assert console(browse(page, "--dump-dom")) == []
    worse = tmp_path / "worse.html"
    worse.write_text(page.read_text().replace("<main>", "<main><script>alert(1)</script>", 1))
    assert console(browse(worse, "--dump-dom"))  # the policy refuses scripts, and the console says so


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_follows_the_theme(browse, page, tmp_path, theme):
    flags = [DARK] if theme == "dark" else []
    browse(page, *flags, "--window-size=1280,5000", f"--screenshot={tmp_path / 'page.png'}")
    background, count = colours(tmp_path / "page.png")
    assert background == _svg.THEME["page"][theme == "dark"]
    assert count > 50


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_nothing_is_wider_than_the_screen(browse, page, tmp_path, width):
    frame = tmp_path / "frame.html"
    frame.write_text(f"""<!doctype html><body style="margin: 0"><p id="found"></p>
<iframe src="file://{page}" style="border: 0; width: {width}px; height: 900px"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {{
  const page = event.target.contentDocument;
  const wide = [...page.querySelectorAll("body *")].filter((element) =>
    !element.closest("svg, .scroll") && element.getBoundingClientRect().right > {width} + 1);
  const pictures = [...page.querySelectorAll("figure > svg, figure > div > svg")];
  const seen = pictures.filter((picture) => picture.getBoundingClientRect().width > 0);
  document.querySelector("#found").textContent =
    page.documentElement.scrollWidth + " " + wide.length + " " + seen.length + "/" + pictures.length;
}};
</script>""")
    found = browse(frame, "--window-size=1400,1000", "--dump-dom").stdout
    pictures = page.read_text().count("<svg ")
    assert f'<p id="found">{width} 0 {pictures - 1}/{pictures}</p>' in found  # the wide or the narrow one


def test_the_page_can_be_printed(browse, page, tmp_path):
    browse(page, DARK, f"--print-to-pdf={tmp_path / 'page.pdf'}")
    paper = (tmp_path / "page.pdf").read_bytes()
    assert paper.startswith(b"%PDF") and len(paper) > 50_000
