"""Datasheets of packages: one page for users who integrate a block, written from its sidecar and a simulation."""
