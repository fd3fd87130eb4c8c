"""A proof in its own process, so that a crash, a leak or a seeded bug does not affect others.

    python -m systoliq.prove.worker FOLDER NAME [BUG]

BUG is a seeded bug as JSON. The decision is written to FOLDER/decision.json; the output of the tools is the log.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from .property import SeededBug, Verdict
from .seeded import seed


def main(folder: Path, name: str, bug: SeededBug | None) -> None:
    """Prove the property ``name``, of hardware with ``bug`` if given."""
    if bug is not None:
        seed(bug)
    from .catalog import find  # imports the hardware
    from .engines import Decision, decide

    try:
        decision = decide(find(name), folder)
    except Exception as error:  # noqa: BLE001 - any error of a tool becomes the decision of this proof
        decision = Decision(Verdict.ERROR, f"{type(error).__name__}: {error}")
    content = {**asdict(decision), "verdict": decision.verdict.value}
    (folder / "decision.json").write_text(json.dumps(content))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], SeededBug(**json.loads(sys.argv[3])) if sys.argv[3:] else None)
