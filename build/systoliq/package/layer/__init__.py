"""The package of a dense layer: description, files, certificate."""
