"""A proof in its own process, so that a crash, a leak or a seeded bug does not affect others.

    python -m systoliq.prove.worker FOLDER NAME BUG [KEY]

BUG is a seeded bug as JSON, or null. The decision is written to FOLDER/decision.json; the output of the tools is the
log. If the decision has the KEY of a recorded one, the worker says so and proves nothing.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from .property import Decision, SeededBug, Verdict
from .seeded import seed


def main(folder: Path, name: str, bug: SeededBug | None, known: str) -> None:
    """Prove the property ``name``, of hardware with ``bug`` if given, unless the key is `known`."""
    if bug is not None:
        seed(bug)
    from .catalog import find  # imports the hardware
    from .engines import decide
    from .netlist import Netlist
    from .record import key_of

    try:
        prop = find(name)
        harness = prop.harness()
        netlist = Netlist(harness, folder)
        key = key_of(prop, harness, netlist.content)
        decision = Decision(Verdict.UNCHANGED) if key == known else decide(prop, harness, netlist, folder)
        decision = replace(decision, key=key)
    except Exception as error:  # noqa: BLE001 - any error of a tool becomes the decision of this proof
        decision = Decision(Verdict.ERROR, f"{type(error).__name__}: {error}")
    decision.write(folder / "decision.json")


if __name__ == "__main__":
    chosen = json.loads(sys.argv[3])
    main(Path(sys.argv[1]), sys.argv[2], chosen and SeededBug(**chosen), "".join(sys.argv[4:]))
