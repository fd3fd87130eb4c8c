"""The package of a network: description, files, certificate."""
