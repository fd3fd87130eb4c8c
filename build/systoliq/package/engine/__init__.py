"""The package of an engine: description, files, register map."""
