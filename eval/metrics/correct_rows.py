"""Store which test rows a model predicts correctly: the number of rows, and one bit per row in base 64."""

from __future__ import annotations

import base64
import binascii

import numpy as np
from numpy.typing import NDArray


def pack_rows(correct: NDArray[np.bool_]) -> str:
    """Write truth values as text.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise.eval.metrics.correct_rows import pack_rows, unpack_rows
    >>> pack_rows(np.array([True, False, True]))
    '3 oA=='
    >>> unpack_rows("3 oA==").tolist()
    [True, False, True]
    """
    return f"{correct.size} {base64.b64encode(np.packbits(correct).tobytes()).decode()}"


def unpack_rows(text: str) -> NDArray[np.bool_]:
    """Read what `pack_rows` wrote.

    Raises
    ------
    ValueError
        If the text is something else.
    """
    count, _, bits = text.partition(" ")
    try:
        packed = np.frombuffer(base64.b64decode(bits, validate=True), dtype=np.uint8)
    except binascii.Error as error:
        raise ValueError(f"rows must be written in base 64: {error}") from None
    if not count.isdecimal() or -(-int(count) // 8) != packed.size:
        raise ValueError(f"rows must be bits after their number, got {count[:20]!r} and {packed.size} bytes")
    return np.unpackbits(packed, count=int(count)).astype(bool)
