from .campaign import (
    Campaign,
    Result,
    Verdict,
    by_block,
)
from .mutation import (
    KINDS,
    Mutant,
)

__all__ = [
    "KINDS",
    "Campaign",
    "Mutant",
    "Result",
    "Verdict",
    "by_block",
]
