"""What a run is called in its page; a module of its own, as a run knows its name before anything is drawn."""

from __future__ import annotations

import os
from pathlib import Path

from gpuasm.report.shapes import as_text


def name_of_run(folder: str | Path, within: str = "assembly") -> str:
    """Return what a run is called: as its folder, or as that of the folder around one named ``within``."""
    path = Path(os.path.normpath(Path(folder).absolute()))  # a link keeps its own name
    return as_text((path.parent if path.name == within else path).name)
