"""Packages: a design as a directory of files."""

from typing import TYPE_CHECKING

from systoliq.moved import renamed

from .package import Package, make_package

__all__ = ["Package", "make_package"]

if not TYPE_CHECKING:
    __getattr__ = renamed(
        __name__,
        {
            "npz_bytes": "systoliq.build.files.npz_bytes",
        },
    )
