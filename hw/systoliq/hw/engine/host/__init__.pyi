from .driver import (
    DriverStep,
    Map,
    describe,
    recovery,
    sequence,
)
from .job import (
    Float8Job,
    Job,
    blocks,
)
from .job_placement import (
    Plan,
)
from .packing import (
    EnginePacking,
)
from .plan import (
    plan_matmul_integer,
    plan_qlinear_matmul,
)
from .queue import (
    queue_sequence,
)
from .tables import (
    Entries,
    column_constants,
    column_words,
    row_words,
)

__all__ = [
    "DriverStep",
    "EnginePacking",
    "Entries",
    "Float8Job",
    "Job",
    "Map",
    "Plan",
    "blocks",
    "column_constants",
    "column_words",
    "describe",
    "plan_matmul_integer",
    "plan_qlinear_matmul",
    "queue_sequence",
    "recovery",
    "row_words",
    "sequence",
]
