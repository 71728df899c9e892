"""Compiled loops on disk: numba's cache where the user wants it, checked against helpers, loaded without compiling."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.runtime import rtsys

from gpuasm import first_run
from gpuasm.code_folders import loops_folder

_choosing_folder = threading.Lock()


def lazily_compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a dispatcher whose code is kept where the user or numba says, or nowhere if no such place can be written.

    Numba looks at NUMBA_CACHE_DIR, beside the source, and in the user's cache, when the dispatcher is made.
    """
    config: Any = numba.config
    with _choosing_folder:
        before = config.CACHE_DIR
        config.CACHE_DIR = loops_folder() or before
        try:
            dispatcher = numba.njit(function, **options)
        except RuntimeError:  # "no locator available": all those places are read-only
            dispatcher = numba.njit(function, **{**options, "cache": False})
        finally:
            config.CACHE_DIR = before
    _stamp_with_helpers(dispatcher)
    _load_without_compiler(dispatcher)
    _go_on_without_room(dispatcher)
    return dispatcher


def keeps_code() -> bool:
    """Tell whether there is a folder in which compiled loops are kept for the next process."""
    return bool(lazily_compiled(_nothing, {"cache": True}).stats.cache_path)


def _nothing() -> None:
    """Be compiled, if anybody asked for it."""


def helper_files(function: Callable[..., Any]) -> set[str]:
    """Return the files of all compiled functions that a function may call, and of those that they may."""
    seen: set[Callable[..., Any]] = set()
    waiting = [function]
    while waiting:
        for value in waiting.pop().__globals__.values():
            helper = getattr(value, "py_func", None)
            if helper is not None and helper not in seen:
                seen.add(helper)
                waiting.append(helper)
    return {inspect.getfile(helper) for helper in seen}


def _stamp_with_helpers(dispatcher: Any) -> None:
    """Let machine code on disk be compiled anew where a helper in another file has changed.

    Numba looks at the file of the function only, and would go on with what it once inlined or linked.
    """
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if file is None:  # nothing is kept on disk, or a numba that keeps it in another way
        return
    names = filter(os.path.exists, sorted(helper_files(dispatcher.py_func)))  # not what was typed at a prompt
    stats = ((name, Path(name).stat()) for name in names)
    helpers = tuple((name, at.st_mtime_ns, at.st_size) for name, at in stats)
    file._source_stamp = (file._source_stamp, helpers)  # noqa: SLF001 - numba has no public way


def _load_without_compiler(dispatcher: Any) -> None:
    """Let machine code on disk be loaded without what only compiling needs: a third of a second of imports.

    Before it loads, numba makes its compiler ready, with the rules of all functions that it knows and the libraries
    for them. The compiler does so by itself where there is something to compile; code from disk wants its allocator.
    """
    cache = getattr(dispatcher, "_cache", None)
    load = getattr(cache, "_load_overload", None)
    guard = getattr(cache, "_guard_against_spurious_io_errors", None)
    if (
        cache is None or load is None or guard is None
    ):  # nothing is kept on disk, or a numba that keeps it in another way
        return

    def load_guarded(signature: Any, target: Any) -> Any:
        with guard():
            return load(signature, target)
        return None  # the guard has caught an error of the disk

    place = dispatcher.py_func.__module__, dispatcher.py_func.__name__

    def load_overload(signature: Any, target: Any) -> Any:
        rtsys.initialize(target)
        first_run.note(*place, signature)
        code = load_guarded(signature, target)
        if code is None and first_run.is_compiled_by_helpers(*place):
            code = load_guarded(signature, target)
        return code

    cache.load_overload = load_overload


def _go_on_without_room(dispatcher: Any) -> None:
    """Let a full disk or a quota end no run: code that cannot be kept is compiled again by the next process."""
    cache = getattr(dispatcher, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if cache is None or save is None:  # a numba that keeps it in another way
        return

    def save_overload(signature: Any, code: Any) -> None:
        with suppress(OSError):
            save(signature, code)

    cache.save_overload = save_overload
