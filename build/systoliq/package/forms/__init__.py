"""Forms of a block for the flows of others: FuseSoC, make, constraints, headers. All come from its sidecar."""

from .table import FORMS, described_forms, write_forms

__all__ = ["FORMS", "described_forms", "write_forms"]
