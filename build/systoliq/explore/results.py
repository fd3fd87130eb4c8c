"""Results of the three questions: all are shown on a console and written into a directory in the same way."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from .cache import StoreError
from .files import write_all
from .grid.exploration import Exploration
from .grid.files import exploration_files
from .grid.show import show_exploration
from .precision.files import study_files
from .precision.show import show_study
from .precision.study import Study
from .question.answer import Answer
from .question.files import answer_files
from .question.show import show_answer

__all__ = ["Result", "show_result", "write_result"]

Result = Exploration | Answer | Study
"""Result of a question; `passed` is False if cosimulation found a difference."""


def show_result(result: Result, console: Console) -> None:
    """Print the answer and its tables."""
    if isinstance(result, Exploration):
        show_exploration(result, console)
    elif isinstance(result, Answer):
        show_answer(result, console)
    else:
        show_study(result, console)


def write_result(result: Result, directory: Path) -> list[Path]:
    """Write report.html and the data files of `result` into `directory`; return their paths.

    Raises StoreError if the directory cannot be written.
    """
    if isinstance(result, Exploration):
        files = exploration_files(result, directory)
    else:
        files = answer_files(result) if isinstance(result, Answer) else study_files(result)
    try:
        return write_all(files, directory)
    except OSError as error:
        message = f"the report cannot be written ({error.strerror}); finished points are kept in the cache"
        raise StoreError(error.errno, message, str(directory)) from error
