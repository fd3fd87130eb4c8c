"""Sign-off of a package: one row per question of a verification lead, with the command that answers it.

Package directory  --sign_off-->  Row...  --page-->  signoff.html, signoff.json

The rows follow the checklists of OpenTitan's development stages. `files` reads the package, `lint`, `structure`,
`runs` and `coverage` fill the rows, `events` writes the monitor of stream events.
"""

from .page import signoff_html, signoff_json
from .row import FAILED, NOT_RUN, PASSED, Row
from .sign_off import sign_off

__all__ = ["FAILED", "NOT_RUN", "PASSED", "Row", "sign_off", "signoff_html", "signoff_json"]
