"""BM25's two factors, with the usual constants (k1 1.2, b .75).

For stores that score by themselves, and for weighing one index's scores against another's.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.2
B = 0.75


def idf(holding: int, total: int) -> float:
    """How telling a term is that `holding` of `total` chunks hold."""
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


@overload
def saturation(frequency: float, length: int, average: float) -> float: ...
@overload
def saturation(
    frequency: NDArray[Any], length: NDArray[Any], average: float
) -> NDArray[np.float64]: ...
def saturation(frequency: Any, length: Any, average: float) -> Any:
    """How much `frequency` occurrences in a chunk of `length` words count: 0 .. K1 + 1."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average))
