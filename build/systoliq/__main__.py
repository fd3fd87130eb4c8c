"""The command line as `python -m systoliq`, the same as `systoliq`."""

from .cli.main import main

main()
