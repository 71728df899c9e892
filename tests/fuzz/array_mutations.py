"""Mutations of arrays in .npz archives, which keep right checksums."""

from __future__ import annotations

import io
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

ChangedText = Callable[[Random, str], str]
_SHAPES: tuple[Any, ...] = ((), (0,), (1,), (3,), (2, 2), (0, 3), (1, 1, 1))
_TYPES = ("i1", "i4", ">i4", "i8", "u1", "u8", "f2", "f4", "f8", ">f8", "c16", "?", "U3", "S3", "M8[s]", "V4", "i4,f8")
_VALUES = (0, 1, -1, 2, 255, -(1 << 31), 1 << 31, (1 << 63) - 1, -(1 << 63))
_NUMBERS = (0.0, -1.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 1e10, 0.5)


def with_other_arrays(rng: Random, data: bytes, *, changed_text: ChangedText) -> bytes:
    """Return an .npz archive in which an array or two are missing, or have another type, shape or value."""
    try:
        with np.load(io.BytesIO(data)) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except Exception:
        return data
    for _ in range(rng.choice((1, 1, 2))):
        if not arrays:
            break
        name = rng.choice(sorted(arrays))
        match rng.randrange(5):
            case 0:
                del arrays[name]
            case 1:
                arrays[name] = _other_type(rng, arrays[name])
            case 2:
                arrays[name] = _other_shape(rng, arrays[name])
            case _:
                arrays[name] = _other_value(rng, arrays[name], changed_text)
    file = io.BytesIO()
    rng.choice((np.savez, np.savez, np.savez_compressed))(file, **arrays)
    return file.getvalue()


def _other_type(rng: Random, array: np.ndarray) -> np.ndarray:
    try:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(_TYPES))
    except (ValueError, TypeError, OverflowError, RuntimeError):  # numpy cannot convert these values
        return np.zeros(array.shape, rng.choice(_TYPES))


def _other_shape(rng: Random, array: np.ndarray) -> np.ndarray:
    match rng.randrange(4):
        case 0:
            return np.zeros(rng.choice(_SHAPES), array.dtype)
        case 1:
            return array[: rng.randrange(len(array) + 1)] if array.ndim else array[None]
        case 2:
            return np.concatenate([array, array]) if array.ndim else np.stack([array, array])
        case _:
            return np.asfortranarray(array.T)


def _other_value(rng: Random, array: np.ndarray, changed_text: ChangedText) -> np.ndarray:
    changed = array.copy()
    if not changed.size or changed.dtype.kind not in "iufbcU":
        return changed
    with np.errstate(all="ignore"):
        return _changed(rng, changed, changed_text)


def _changed(rng: Random, changed: np.ndarray, changed_text: ChangedText) -> np.ndarray:
    at = rng.randrange(changed.size)
    if changed.dtype.kind == "U":
        text = str(changed.flat[at])
        changed = changed.astype(f"U{len(text) + 8}")
        changed.flat[at] = changed_text(rng, text)
        return changed
    values = _NUMBERS if changed.dtype.kind == "f" else _VALUES
    fits = [v for v in values if changed.dtype.kind == "f" or np.array(v).astype(changed.dtype) == v]
    if rng.random() < 0.2:
        changed[...] = rng.choice(fits or [0])
    else:
        changed.flat[at] = rng.choice(fits or [0])
    return changed
