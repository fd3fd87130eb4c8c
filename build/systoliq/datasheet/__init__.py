"""Datasheets of packages: one page for who integrates a block, written from its sidecar and from a simulation."""
