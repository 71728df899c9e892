"""Numba's disk cache of compiled loops, with helper files checked, loaded without the compiler, tolerant of bad disks.

This is the only module that uses private parts of numba; ``PRIVATE_PARTS`` names them, and a test checks each.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from numbers import Number
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core import environment
from numba.core.caching import FunctionCache, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

from gpuasm import precompilation, unfinished
from gpuasm.cache_folders import chosen_loop_folder, is_private, own_loop_folder

PRIVATE_PARTS = {
    "numba.core.caching.FunctionCache": "the cache of one function, of which `_LoopCache` is a subclass",
    "numba.core.caching.NullCache": "the cache of a function that is not kept on disk",
    "numba.core.runtime._nrt_python.c_helpers": "the functions of numba's allocator, which loaded code calls",
    "numba.core.environment._rebuild_env": "called where code from disk has the globals of a module",
    "njit._nrt": "whether compiled code counts references to arrays, which only code that makes arrays has to",
    "Dispatcher._cache": "where a compiled function has its cache; `cache=True` would set numba's own",
    "FunctionCache.load_overload": "called by numba before it compiles a function for some types",
    "FunctionCache.save_overload": "called by numba after it compiled a function for some types",
    "FunctionCache._load_overload": "`load_overload` without the initialization of the compiler",
    "FunctionCache.flush": "empties the index of cached entries",
    "targetctx.codegen().unserialize_library": "called where code comes from disk",
    "JITCodeLibrary._set_compiled_object": "gives a library its machine code",
    "JITCodeLibrary._finalize_final_module": "loads the machine code of a library",
    "JITCodeLibrary._get_module_for_linking": "called where another function is compiled with the code of this one",
    "JITCodeLibrary._shared_module": "that code, for the compiler",
    "targetctx.codegen()._engine._load_defined_symbols": "notes that the functions of such code are there",
    "FunctionCache._cache_file._source_stamp": "the stamp that a cached entry must have to be valid",
}
"""Private parts of numba in use, and what each does."""

_config_lock = threading.Lock()
_now = threading.local()
"""Of a thread: whether it only loads code from disk."""


class _NotOnDiskError(Exception):
    """Code that would have to be compiled."""


@contextmanager
def _only_loading() -> Iterator[None]:
    """Let this thread load code from disk in the block, and raise `_NotOnDiskError` where there is none."""
    _now.only_loads = True
    try:
        yield
    finally:
        _now.only_loads = False


def load_ahead(*, on_device: bool) -> None:
    """Load the CPU loops of an assembly from disk, up to the first that is not there.

    A thread may do so before they are used: the first use of each takes some milliseconds.

    Parameters
    ----------
    on_device
        Whether the assembly runs on a device, where it uses fewer of them.
    """
    if not has_folder():
        return
    with suppress(_NotOnDiskError), _only_loading():
        for loop in precompilation.declared_loops():
            if loop.kinds[on_device] == "cpu":
                for signature in loop.signatures:
                    loop.compile(signature, None)


class _LoopCache(FunctionCache):
    """The cache of one function on disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._key = function.__module__, function.__name__
        # Numba's stamp is that of the function's own file: code of a changed helper would stay inlined or linked.
        self._cache_file._source_stamp = (
            self._cache_file._source_stamp,
            _stamp_of_helpers(function),
            compiled_constants(function),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for some types, or None if the disk has none.

        Numba's method first initializes the compiler, with the typing rules of all functions. This one does not: that
        takes a tenth of a second or more. Code from disk needs the allocator only, whose compiled part it contains.
        """
        _register_allocator()
        code = self._load(sig, target_context)
        if code is None and getattr(_now, "only_loads", False):
            raise _NotOnDiskError
        if code is None and precompilation.wait_for_loop(*self._key):
            code = self._load(sig, target_context)
        return code

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the code for some types to disk; if the disk is full, the next process compiles again."""
        with suppress(OSError), unfinished.MAKING:
            super().save_overload(sig, data)

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            with _compiler_parts_left(target_context.codegen()):
                return self._load_overload(sig, target_context)
        except Exception:  # a damaged file is a damaged pickle, which may raise anything
            with suppress(OSError):
                self.flush()
            return None


class _CacheOnDemand:
    """What a dispatcher has instead of its cache until code is needed: a command calls few of the loops it imports."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher, self._imported = dispatcher, time.time_ns()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found(), name)

    def _found(self) -> Any:
        """Put the cache of the function in this one's place; a source that changed since it was imported has none."""
        function = self._dispatcher.py_func
        changed = (time_of_change for _, time_of_change, _ in _stamp_of_helpers(function, and_own=True))
        is_changed = any(time_of_change > self._imported for time_of_change in changed)
        self._dispatcher._cache = NullCache() if is_changed else _cache_of(function)
        return self._dispatcher._cache


def cached_dispatcher(function: Callable[..., Any], *, allocates: bool = True, **options: Any) -> Any:
    """Return numba's dispatcher of a function, with compiled code kept on disk if there is a usable folder.

    Parameters
    ----------
    function
        What to compile.
    allocates
        Whether it makes arrays. If not, it is compiled without numba's counts of references.
    **options
        Numba's options of ``njit``.
    """
    options |= {} if allocates else {"_nrt": False}
    dispatcher: Any = numba.njit(function, **options)
    dispatcher._cache = _CacheOnDemand(dispatcher)
    return dispatcher


@functools.cache
def _register_allocator() -> None:
    """Give the functions of numba's allocator the names by which compiled code calls them."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@functools.wraps(environment._rebuild_env)
def _environment_of(module: str, *others: Any) -> Any:
    """Return the globals that code from disk has, without the slow imports of parts of numba.

    Compiled code looks up no globals. Those of numba's functions of arrays are replaced by numba's own.
    """
    return _environment_of.__wrapped__("numba" if module in NOT_IMPORTED else module, *others)


NOT_IMPORTED = ("numba.np.arrayobj", "numba.np.arraymath", "numba.np.npyimpl", "numba.cpython.listobj")
"""Modules of numba that the compiler needs, and compiled code does not: they add no symbols for it."""
environment._rebuild_env = _environment_of


class _LoadedLibrary(JITCodeLibrary):
    """Code from disk, of which the form for the compiler is read when a function that calls it is compiled.

    Numba reads it at once, which takes as long as all the rest.
    """

    bitcode = b""

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, which is there: numba only asks for the entries of the code."""
        return int(self._codegen._engine.get_function_address(name))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self.bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module


@contextmanager
def _compiler_parts_left(codegen: Any) -> Iterator[None]:
    """Let code from disk be a `_LoadedLibrary` in the block; the caller has numba's lock of the compiler."""
    read_all = codegen.unserialize_library

    def read(state: Any) -> Any:
        name, kind, data = state
        if kind != "object":
            return read_all(state)
        library = _LoadedLibrary(codegen, name)
        code, library.bitcode = data
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        return library

    codegen.unserialize_library = read
    try:
        yield
    finally:
        del codegen.unserialize_library


def uncounted(function: Callable[..., Any]) -> Any:
    """Return numba's dispatcher of the body of a loop, which makes no arrays and is not kept on disk by itself."""
    options: dict[str, Any] = {"nogil": True, "_nrt": False}
    return numba.njit(function, **options)


def has_folder() -> bool:
    """Return whether compiled loops are kept on disk for the next process."""
    return bool(_cache_of(_empty).cache_path)


def helper_files(function: Callable[..., Any]) -> set[str]:
    """Return the files of all compiled functions that a function may call, directly or through others."""
    return {inspect.getfile(helper) for helper in _helpers(function)}


def compiled_constants(function: Callable[..., Any]) -> list[tuple[str, str, str]]:
    """Return numbers and fields of tuples that are compiled into a function and its helpers, with the names of both.

    A number may come from another module, as thresholds do, whose change no time stamp of the function's file shows.
    """
    found = set()
    for each in {function} | _helpers(function):
        for name in each.__code__.co_names:
            value = each.__globals__.get(name)
            if isinstance(value, (Number, tuple)):
                found.add((f"{each.__module__}.{each.__name__}", name, repr(value)))
            elif isinstance(value, type) and hasattr(value, "_fields"):
                found.add((f"{each.__module__}.{each.__name__}", name, repr(value._fields)))
    return sorted(found)


@functools.cache
def _helpers(function: Callable[..., Any]) -> set[Callable[..., Any]]:
    seen: set[Callable[..., Any]] = set()
    waiting = [function]
    while waiting:
        for value in waiting.pop().__globals__.values():
            helper = getattr(value, "py_func", None)
            if helper is not None and helper not in seen:
                seen.add(helper)
                waiting.append(helper)
    return seen


def _empty() -> None:
    """Do nothing; its cache shows where caches are."""


def _cache_of(function: Callable[..., Any]) -> Any:
    """Return the cache in the first private folder: the chosen one, one of numba's, or gpuasm's own."""
    for folder in (chosen_loop_folder() or numba.config.CACHE_DIR, own_loop_folder()):  # type: ignore[attr-defined]
        with suppress(RuntimeError), _cache_folder(folder):  # numba raises it if no folder can be written
            cache = _LoopCache(function)
            if is_private(cache.cache_path):
                return cache
    return NullCache()


@contextmanager
def _cache_folder(folder: str) -> Iterator[None]:
    """Set numba's folder in the block; without one, numba takes that of the source or the user's cache."""
    config: Any = numba.config
    with _config_lock:
        before, config.CACHE_DIR = config.CACHE_DIR, folder
        try:
            yield
        finally:
            config.CACHE_DIR = before


def _stamp_of_helpers(function: Callable[..., Any], *, and_own: bool = False) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of each file with helpers of a function, and of its own file if ``and_own``."""
    files = helper_files(function) | ({inspect.getfile(function)} if and_own else set())
    names = filter(os.path.exists, sorted(files))  # a function typed at a prompt has no file
    stats = ((name, Path(name).stat()) for name in names)
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in stats)
