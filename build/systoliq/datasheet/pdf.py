"""A datasheet as PDF, laid out by WeasyPrint."""

from __future__ import annotations

import logging

from ..errors import InputError, need

__all__ = ["pdf_of"]

_PRINT = """@page { size: A4; margin: 14mm; @bottom-right { content: counter(page); font-size: 8pt } }
body { font-size: 9pt !important; max-width: none !important; margin: 0 !important }
table { font-size: 9pt !important } td, th { padding: 2pt 5pt !important }
tr, svg { break-inside: avoid } h2, h3, thead { break-after: avoid } svg { max-width: 100%; height: auto }"""


def pdf_of(page: str) -> bytes:
    """Return the HTML `page` as a PDF on A4.

    Raises MissingPackageError if WeasyPrint is not installed, and InputError if it does not find Pango, the library
    that it needs from the system.
    """
    try:
        weasyprint = need("weasyprint", "weasyprint", "datasheets as PDF", extra="datasheet-pdf")
    except OSError as error:
        how = "apt-get install libpango-1.0-0 libpangoft2-1.0-0"
        raise InputError(f"weasyprint needs Pango: {how} ({error})") from error
    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it warns of styles that its drawings read
    content: bytes = weasyprint.HTML(string=page).write_pdf(stylesheets=[weasyprint.CSS(string=_PRINT)])
    return content
