"""`python -m systoliq.build` is `systoliq`."""

from .cli.main import main

main()
