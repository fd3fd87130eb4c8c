"""The command line: what each command takes and shows."""

from typing import TYPE_CHECKING

from systoliq.moved import renamed

if not TYPE_CHECKING:
    __getattr__ = renamed(
        __name__,
        {
            "cli": "systoliq.build.cli.main.cli",
        },
    )
