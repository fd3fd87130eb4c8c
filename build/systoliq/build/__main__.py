"""`python -m systoliq.build` is `systoliq`."""

from .cli import main

main()
