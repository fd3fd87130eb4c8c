"""The command line: what each command takes and shows."""
