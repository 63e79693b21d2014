"""Files of tensors (safetensors), read as they lie on the disk."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["read_tensors"]

_KINDS = {"F16": np.float16, "F32": np.float32}


def read_tensors(path: Path) -> Mapping[str, NDArray[Any]]:
    """Return the floating-point tensors of a file by name, mapped into memory and not copied.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is no such file; the message says why.
    """
    raw = np.memmap(path, np.uint8, "r")
    length = int(raw[:8].view(np.uint64)[0]) if len(raw) >= 8 else 0
    body = 8 + length
    if not 0 < length <= len(raw) - 8:
        raise ValueError("its header is cut off")
    header = json.loads(raw[8:body].tobytes())
    if not isinstance(header, dict):
        raise ValueError("its header is no table of tensors")  # noqa: TRY004 - of a file
    tensors = {}
    for name, about in header.items():
        kind = _KINDS.get(str(about.get("dtype"))) if isinstance(about, dict) else None
        if kind is None:  # a remark, or numbers that no vector is made of
            continue
        (begin, end), shape = about["data_offsets"], about["shape"]
        if not 0 <= begin <= end <= len(raw) - body:
            raise ValueError(f"{name[:60]!r} lies outside of it")
        if math.prod(shape) * np.dtype(kind).itemsize != end - begin:
            raise ValueError(f"{name[:60]!r} has another size than it says")
        tensors[name] = raw[body + begin : body + end].view(kind).reshape(shape)
    return tensors
