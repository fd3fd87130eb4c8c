"""Layouts in standard cells: a package as GDS by qflow with OSU018, and what the tools check of it."""
