"""Writes docs/api.md from the docstrings of the Python package.

    python tools/render_api.py            rewrite the page
    python tools/render_api.py --check    fail where the page is not what would be written

Reads the sources as text: nothing of the package has to be installed.
"""

import argparse
import ast
import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "gcbs"
PAGE = ROOT / "docs" / "api.md"

# Heading, module, names: what the page shows, in its order.
SECTIONS = [
    ("Calls", "_api.py", ["order", "plan", "arrange", "gap", "compare", "mine", "info"]),
    ("Options", "_options.py", ["OrderOptions", "GapOptions", "MineOptions"]),
    ("Training", "sampler.py", ["BatchSampler"]),
    ("", "_sampling/negatives.py", ["ExtraNegatives"]),
    ("Trainers", "integrations/sentence_transformers.py", None),
    ("", "integrations/transformers.py", None),
    ("", "integrations/lightning.py", None),
    ("Pictures", "report/__init__.py", ["report"]),
    ("Results", "_results.py", ["Plan", "Threshold", "Verdict", "Gap", "OrderGap", "RandomGap", "Oracle"]),
    ("", "_results.py", ["ByDirection", "Bounds", "Mined", "Info", "Stage"]),
    ("Errors", "_errors.py", ["Error", "InputError"]),
]


def is_public(name):
    return not name.startswith("_")


class Module:
    def __init__(self, path):
        self.nodes = {
            node.name: node
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ClassDef | ast.FunctionDef)
        }

    def fields(self, node):
        """(name, type, text) of a class's annotated attributes, those of its bases in this module first."""
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self.nodes:
                yield from self.fields(self.nodes[base.id])
        for at, entry in enumerate(node.body):
            if not isinstance(entry, ast.AnnAssign) or not is_public(entry.target.id):
                continue
            after = node.body[at + 1] if at + 1 < len(node.body) else None
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            text = " ".join(str(after.value.value).replace("``", "`").split()) if is_text else ""
            yield entry.target.id, ast.unparse(entry.annotation), text


def signature(node, name):
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self").removeprefix("cls, ")
    result = f" -> {ast.unparse(node.returns)}" if node.returns and name != "__init__" else ""
    return arguments, result


def function_text(node, shown):
    arguments, result = signature(node, node.name)
    return f"```python\n{shown}({arguments}){result}\n```\n\n{prose(ast.get_docstring(node) or '')}"


def prose(text):
    """A docstring as Markdown: examples fenced, double backticks single."""
    lines, out, fenced = inspect.cleandoc(text).replace("``", "`").splitlines(), [], False
    for line in lines:
        starts = line.startswith(">>>") and not fenced
        if starts:
            out.append("```python")
            fenced = True
        if fenced and not line.strip():
            out.append("```")
            fenced = False
        out.append(line)
    return "\n".join(out + (["```"] if fenced else []))


def row(name, kind, text):
    escaped = kind.replace("|", "\\|")
    return f"| `{name}` | `{escaped}` | {text} |"


def class_text(module, node, shown):
    parts = []
    methods = [entry for entry in node.body if isinstance(entry, ast.FunctionDef)]
    made = next((entry for entry in methods if entry.name == "__init__"), None)
    if made is not None:
        parts.append(f"```python\n{shown}({signature(made, '__init__')[0]})\n```")
    parts.append(prose(ast.get_docstring(node) or ""))
    fields = list(module.fields(node))
    if fields and made is None:
        rows = [row(*field) for field in fields]
        parts.append("\n".join(["| | | |", "|---|---|---|", *rows]))
    for entry in methods:
        if is_public(entry.name) and ast.get_docstring(entry):
            arguments, result = signature(entry, entry.name)
            words = prose(ast.get_docstring(entry))
            parts.append(f"**`.{entry.name}({arguments}){result}`**\n\n{words}")
    return "\n\n".join(part for part in parts if part)


def page():
    out = ["# Python API", "", "Written from the docstrings by `tools/render_api.py`.", ""]
    for heading, path, names in SECTIONS:
        file = PACKAGE / path
        if not file.exists():
            continue
        module = Module(file)
        if heading:
            out += [f"## {heading}", ""]
        within = "gcbs" if names else "gcbs." + path.removesuffix(".py").replace("/", ".")
        for name in names or [name for name in module.nodes if is_public(name)]:
            node = module.nodes[name]
            shown = f"{within}.{name}"
            is_function = isinstance(node, ast.FunctionDef)
            body = function_text(node, shown) if is_function else class_text(module, node, shown)
            out += [f"### `{shown}`", "", body, ""]
    return "\n".join(out).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    wanted = page()
    if parser.parse_args().check:
        if not PAGE.exists() or PAGE.read_text() != wanted:
            sys.exit("docs/api.md is not what the docstrings say: run python tools/render_api.py")
    else:
        PAGE.write_text(wanted)


if __name__ == "__main__":
    main()
