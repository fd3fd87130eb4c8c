"""The command line: arguments and output of each command."""
