"""Sphinx makes a site and manual pages of these documents, the command line and the public interface.

Pages of commands, names of the interface and documents of other folders are written to ``docs/generated`` first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
from sphinx.application import Sphinx

import gpuasm
from gpuasm.cli import EXIT_CODES, SECTIONS, cli

DOCS = Path(__file__).parent
GENERATED = DOCS / "generated"

project = "gpuasm"
author = copyright = "the gpuasm developers"  # noqa: A001 - Sphinx's name
version = release = gpuasm.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx_click"]
html_theme = "furo"
html_title = f"gpuasm {version}"
html_copy_source = False
myst_heading_anchors = 4
autosummary_generate = False  # the pages are written here
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

ORIGINS = {
    "generated/readme": "README.md",
    "generated/workflow": "config/README.md",
    "generated/benchmarks": "benchmarks/README.md",
    "generated/contributing": "CONTRIBUTING.md",
    "generated/changelog": "CHANGELOG.md",
}
"""Pages that are documents of other folders."""

COMMANDS = {name: summary for commands in SECTIONS.values() for name, summary in commands.items()}
man_pages = [("generated/gpuasm", "gpuasm", "assemble genomes from short reads", author, 1)] + [
    (f"generated/gpuasm-{name}", f"gpuasm-{name}", summary.rstrip("."), author, 1) for name, summary in COMMANDS.items()
]
_MARKUP = re.compile(r"[\\*`|_]")
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def setup(app: Sphinx) -> None:
    """Write the pages before Sphinx looks for documents, and correct their links when it reads them."""
    app.connect("config-inited", write_pages)
    app.connect("source-read", relink)
    app.connect("sphinx-click-process-description", as_text)


def write_pages(*_: object) -> None:
    """Write the pages that are not documents of this folder."""
    GENERATED.mkdir(exist_ok=True)
    for name, text in _pages():
        path = GENERATED / name
        if not path.exists() or path.read_text() != text:  # pages that stay the same are not built again
            path.write_text(text)


def _pages() -> Iterator[tuple[str, str]]:
    for page, origin in ORIGINS.items():
        yield f"{Path(page).name}.md", (DOCS.parent / origin).read_text()
    yield (
        "gpuasm.rst",
        _titled("gpuasm") + f".. click:: gpuasm.cli:cli\n   :prog: gpuasm\n   :nested: none\n\n{_sections()}",
    )
    context = click.Context(cli)
    for name in COMMANDS:
        nested = "full" if isinstance(cli.get_command(context, name), click.Group) else "none"
        text = f".. click:: gpuasm.cli.{name}:command\n   :prog: gpuasm {name}\n   :nested: {nested}\n"
        yield f"gpuasm-{name}.rst", _titled(f"gpuasm {name}") + text
    names = [name for name in gpuasm.__all__ if name != "__version__"]
    summary = ".. autosummary::\n\n" + "".join(f"   gpuasm.{name}\n" for name in names)
    details = "".join(f"\n.. auto{_kind(name)}:: gpuasm.{name}\n" for name in names)
    yield "interface.rst", f"{_titled('Python interface')}{summary}{details}"


def _kind(name: str) -> str:
    value = getattr(gpuasm, name)
    if not isinstance(value, type):
        return "function"
    return "exception" if issubclass(value, Exception) else "class"


def _titled(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n"


def _sections() -> str:
    """Return the commands by section, and the exit codes, as lists of definitions."""
    sections = [
        (title, [(f"``gpuasm {name}``", text) for name, text in found.items()]) for title, found in SECTIONS.items()
    ]
    sections.append(("Exit codes", [(str(code), meaning) for code, meaning in EXIT_CODES.items()]))
    return "".join(
        f".. rubric:: {title}\n\n" + "".join(f"{term}\n   {text}\n\n" for term, text in terms)
        for title, terms in sections
    )


def as_text(_: Sphinx, __: click.Context, lines: list[str]) -> None:
    """Make reStructuredText of a command's help: blocks that keep their lines are literal, all else has no markup."""
    text: list[str] = []
    for line in lines:
        is_kept = line.startswith("| ")
        if is_kept and not (text and text[-1].startswith("   ")):
            text += ["::", ""]
        text.append(f"   {line[2:]}" if is_kept else _MARKUP.sub(r"\\\g<0>", line))
    lines[:] = text


def relink(_: Sphinx, docname: str, source: list[str]) -> None:
    """Let links between documents lead to pages of the site."""
    folder = (DOCS.parent / ORIGINS.get(docname, f"docs/{docname}.md")).parent
    pages = {DOCS.parent / origin: DOCS / f"{page}.md" for page, origin in ORIGINS.items()}

    def target(match: re.Match[str]) -> str:
        path = Path(os.path.normpath(folder / match[1]))
        return os.path.relpath(pages.get(path, path), (DOCS / docname).parent)

    source[0] = _LINK.sub(target, source[0])
