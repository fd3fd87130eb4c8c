from .package import Package, make_package

__all__ = ["Package", "make_package"]
