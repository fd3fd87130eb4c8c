"""Files of an answer: candidates as JSON and CSV, and the plan, which `emit`, `simulate` and `synth` take."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ...files import json_bytes, write_file
from ...generator import GENERATOR
from .answer import Answer
from .report import answer_html
from .show import answer_lines

__all__ = ["write_answer"]


def write_answer(answer: Answer, directory: Path) -> list[Path]:
    """Write answer.json first, which marks the directory; each file whole or not at all."""
    front = {id(each) for each in answer.front}
    rows = [
        each.row | {"front": id(each) in front, "chosen": each is answer.chosen, "plan": each.sized.plan.as_json()}
        for each in answer.candidates
    ]
    files = {
        "answer.json": json_bytes(
            {
                "generator": GENERATOR,
                "answer": answer_lines(answer),
                "name": answer.subject.name,
                "target": answer.target,
                "objective": answer.objective,
                "throughput": answer.required,
                "proven": answer.proven,
                "stopped": answer.stopped,
                "cosimulation": None if answer.checked is None else answer.checked.as_json,
                "candidates": rows,
            }
        ),
        "report.html": answer_html(answer).encode(),
        "candidates.csv": _csv([{key: value for key, value in row.items() if key != "plan"} for row in rows]),
    }
    if answer.chosen is not None:
        files["plan.json"] = json_bytes(answer.chosen.sized.plan.as_json())
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_file(directory / name, content)
    return [directory / name for name in files]


def _csv(rows: list[dict[str, object]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
