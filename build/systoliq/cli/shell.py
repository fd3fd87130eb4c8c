"""The end of a command: errors in one line on standard error, and an exit status that says what happened.

0 done    1 a mismatch, a tool that failed or is missing, no memory    2 bad input    130 interrupted    143 terminated
3 the hardware is right, and onnxruntime's own result is not: see `saturated`
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from systoliq.failed import FailedError
from systoliq.subprocesses import EndedError, end_children, starting

from .shown import shown

__all__ = ["Group", "debug_option", "tell_notes", "warn_symlink"]

_BAD_INPUT = (ValueError, TypeError, OSError)  # errors of golden and hw for invalid arguments


@dataclass
class _Settings:
    debug: bool = False
    signal: int = signal.SIGTERM


class Group(click.Group):
    """A group of commands that ends as this module says, under a test runner as well."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help if no command is given: click would raise it as an error, which is shown in one line."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; with `standalone_mode`, never return."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        settings = _Settings()
        try:
            with _caught_signals(settings):
                status = super().main(args, prog_name, complete_var, standalone_mode=False, obj=settings, **extra)
                sys.stdout.flush()
        except click.Abort:  # Ctrl-C
            sys.exit(130)
        except EndedError:
            sys.exit(128 + settings.signal)
        except MemoryError:
            _tell("there is not enough memory")
            sys.exit(1)
        except click.ClickException as error:
            _tell(" ".join(error.format_message().split()))
            sys.exit(2)
        except (*_BAD_INPUT, FailedError) as error:
            if settings.debug:
                raise
            _leave_output(error)
            _tell(_message(error))
            sys.exit(1 if isinstance(error, FailedError) else 2)
        sys.exit(status if isinstance(status, int) else 0)


@contextlib.contextmanager
def _caught_signals(settings: _Settings) -> Iterator[None]:
    """Signals that end this process end its children first, and its temporary files with them; those that are ignored
    stay so.
    """

    def end(number: int, frame: object) -> None:
        settings.signal = number
        warnings.simplefilter("ignore")  # Amaranth warns of hardware that was being described
        end_children()
        if not starting():
            raise KeyboardInterrupt if number == signal.SIGINT else EndedError

    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.getsignal(number) for number in numbers}
    main = threading.current_thread() is threading.main_thread()
    caught = [number for number in numbers if main and before[number] is not signal.SIG_IGN]
    for number in caught:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, before[number])


def _leave_output(error: Exception) -> None:
    """If standard output cannot be written, do not try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.__stdout__.fileno() if sys.__stdout__ else 1)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, FailedError):
        return str(error)  # a tool's own words may take more than one line
    return " ".join(str(error).split())


def tell_notes(notes: Iterable[str]) -> None:
    """Print warnings for the user on standard error, a line each."""
    for note in notes:
        click.echo(shown(f"note: {note}"), err=True)


def warn_symlink(directory: Path) -> None:
    """Report the real path of the output if `directory` is a link."""
    if directory.is_symlink():
        click.echo(f"note: {directory} is a link: what is written goes to {directory.resolve()}", err=True)


def _tell(message: str) -> None:
    lines = (shown(line) for line in message.split("\n"))
    click.echo("error: " + "\n".join(lines), err=True)


def _set_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and isinstance(context.obj, _Settings):
        context.obj.debug = True


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_set_debug, is_eager=True, help="Show tracebacks of errors."
)
