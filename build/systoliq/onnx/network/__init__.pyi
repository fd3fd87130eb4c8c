from .network import (
    Reading,
)
from .verdict import (
    Fate,
    Verdict,
)

__all__ = [
    "Fate",
    "Reading",
    "Verdict",
]
