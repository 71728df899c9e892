"""Packages whose names are imported at their first use (PEP 562)."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the package is imported before signals are handled, so it loads as little as possible
    from collections.abc import Callable, Mapping
    from typing import Any


def names_from(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Parameters
    ----------
    package
        Its full name.
    homes
        The full name of the module that defines each name.
    """

    def find(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # found directly from now on
        return value

    return find
