"""Layouts in standard cells: a package as GDS by qflow with OSU018, and its checks."""
