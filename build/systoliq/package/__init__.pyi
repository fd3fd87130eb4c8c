from .certify import certify
from .describe import describe
from .package import Package, make_package, write_package

__all__ = ["Package", "certify", "describe", "make_package", "write_package"]
