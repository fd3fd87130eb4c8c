"""The package of an array: description and files."""
