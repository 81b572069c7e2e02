"""Takes the README's picture from the report that the demo wrote: random batches beside those of gcbs.

Two plots of build/demo/plots, photographed by Chromium. The numbers behind them are written beside the
picture as JSON.

    make demo && python examples/picture.py --input build/demo --output docs/order.png
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLOTS = {"random batches": "matrix-random", "batches of gcbs": "matrix-ordered"}
WIDTH, HEIGHT, SCALE = 984, 512, 1.5
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 8px; background: #fff; display: grid; grid-template-columns: 1fr 1fr; gap: 24px }}
p {{ margin: 0 0 6px; font: 17px 'DejaVu Sans', sans-serif; color: #1b1f24; }}
img {{ width: 100%; display: block; }}
</style>{}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--input", type=Path, default=Path("build/demo"), help="folder that the demo wrote")
    parser.add_argument("--output", type=Path, default=Path("docs/order.png"))
    options = parser.parse_args()
    needed = [options.input / "plots" / f"{name}.svg" for name in PLOTS.values()]
    needed += [options.input / "report.json", options.input / "report.html"]
    missing = [str(file) for file in needed if not file.exists()]
    if missing:
        sys.exit(f"picture: there is no {' and no '.join(missing)}.\nRun `make demo` first.")
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if browser is None:
        sys.exit(
            "picture: Chromium takes the picture, and is not here.\nInstall it (apt-get install chromium)."
        )
    photograph(browser, options.input / "plots", options.output)
    facts = facts_of(options.input)
    options.output.with_suffix(".json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return 0


def photograph(browser: str, plots: Path, output: Path) -> None:
    panels = "".join(
        f'<div><p>{title}</p><img src="{(plots / name).resolve().as_uri()}.svg"></div>'
        for title, name in PLOTS.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(PAGE.format(panels), encoding="utf-8")
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}"]
        command += [f"--force-device-scale-factor={SCALE}", f"--screenshot={output.resolve()}", page.as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=120)


def facts_of(folder: Path) -> dict:
    """What the demo's order is made of, and what the page says of it."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    page = (folder / "report.html").read_text(encoding="utf-8")
    text = re.search(r'class="reading">(.*?)</p>', page, re.DOTALL)[1]
    facts = {key: report[key] for key in ("version", "method", "n", "d", "threshold", "edges")}
    facts |= {"python": platform.python_version(), "k": report["options"]["batch_size"]}
    return facts | {"reading": re.sub(r"<[^>]*>", "", text).replace("\N{NO-BREAK SPACE}", " ")}


if __name__ == "__main__":
    sys.exit(main())
