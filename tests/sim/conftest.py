"""Lets the tests of this folder import what they share (`scenarios`)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
