"""Docstring/code pairs from the Python standard library that is installed here.

A pair is one function or method: `text` is the first paragraph of its docstring, `code` its source with every
docstring removed. Files are visited in sorted order and functions in the order of the source, so the same
Python gives the same list. Nothing is imported or run: the sources are only parsed.

    python examples/stdlib_pairs.py            # prints how many pairs there are and a few of them
"""

import ast
import os
import re
import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path

# Tests and vendored or generated code: their docstrings describe test cases or nothing.
SKIPPED_FOLDERS = {
    "test", "tests", "idlelib", "turtledemo", "site-packages", "dist-packages", "ensurepip", "lib2to3",
    "pydoc_data", "__pycache__",
}  # fmt: skip
MIN_WORDS = 3
MIN_CODE_WORDS = 8

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (*FUNCTION, ast.ClassDef)


@dataclass(frozen=True)
class Pair:
    name: str  # module.Class.function
    text: str  # the query: first paragraph of the docstring, one line
    code: str  # the answer: the function without its docstring


def collect_pairs(root: Path | None = None) -> list[Pair]:
    """All pairs under `root` (default: this Python's standard library), duplicates of text or code once."""
    root = Path(root or sysconfig.get_path("stdlib"))
    pairs, texts, codes = [], set(), set()
    for path in source_files(root):
        for pair in pairs_of_file(path, module_name(path, root)):
            if pair.text.lower() in texts or body_of(pair.code) in codes:
                continue
            texts.add(pair.text.lower())
            codes.add(body_of(pair.code))
            pairs.append(pair)
    return pairs


def source_files(root: Path) -> list[Path]:
    files = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if name not in SKIPPED_FOLDERS)
        files += [Path(folder, name) for name in sorted(names) if name.endswith(".py")]
    return files


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def pairs_of_file(path: Path, module: str):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old sources hold invalid escapes
            tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return  # templates and files for other versions
    documented = list(documented_nodes(tree, module))
    texts = [first_paragraph(ast.get_docstring(node)) for _, node in documented]
    for _, node in documented:  # all before any is printed: inner docstrings go too
        del node.body[0]
        node.body = node.body or [ast.Pass()]
    for (name, node), text in zip(documented, texts, strict=True):
        if not isinstance(node, FUNCTION) or len(re.findall(r"[A-Za-z]{2,}", text)) < MIN_WORDS:
            continue
        code = ast.unparse(node)
        if len(re.findall(r"\w+", code)) >= MIN_CODE_WORDS and text.lower() not in code.lower():
            yield Pair(name, text, code)


def documented_nodes(parent: ast.AST, prefix: str):
    """(dotted name, node) of every function and class below `parent` with a docstring, in source order."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        for node in getattr(parent, field, ()):
            name = f"{prefix}.{node.name}" if isinstance(node, DOCUMENTED) else prefix
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                yield name, node
            yield from documented_nodes(node, name)


def first_paragraph(docstring: str | None) -> str:
    paragraph = re.split(r"\n\s*\n", (docstring or "").strip())[0]
    return " ".join(paragraph.split())


def body_of(code: str) -> str:
    """The code without its first line: copies under another name are copies."""
    lines = code.split("\n")
    start = next((i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def "))), 0)
    return "\n".join(lines[start + 1 :])


if __name__ == "__main__":
    found = collect_pairs()
    print(f"{len(found):,} pairs")
    for shown in found[:: max(1, len(found) // 5)][:5]:
        print(f"\n{shown.name}\n  text: {shown.text}\n  code: {shown.code[:200]!r}")
