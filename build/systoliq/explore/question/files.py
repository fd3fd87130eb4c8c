"""Files of an answer: candidates as JSON and CSV, and the plan, which `emit`, `simulate` and `synth` take."""

from __future__ import annotations

from ...files import json_bytes
from ...generator import GENERATOR
from ..files import csv_bytes
from .answer import Answer
from .report import answer_html
from .show import answer_lines

__all__ = ["answer_files"]


def answer_files(answer: Answer) -> dict[str, bytes]:
    """Return all files by name; answer.json is the first."""
    front = {id(each) for each in answer.front}
    rows = [
        each.row | {"front": id(each) in front, "chosen": each is answer.chosen, "plan": each.sized.plan.as_json()}
        for each in answer.candidates
    ]
    content = {
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
    plan = {} if answer.chosen is None else {"plan.json": json_bytes(answer.chosen.sized.plan.as_json())}
    return {
        "answer.json": json_bytes(content),
        "report.html": answer_html(answer).encode(),
        "candidates.csv": csv_bytes([name for name in rows[0] if name != "plan"], rows),
        **plan,
    }
