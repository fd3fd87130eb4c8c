"""The command line as `python -m systoliq.build`, the same as `systoliq`."""

from .cli.main import main

main()
