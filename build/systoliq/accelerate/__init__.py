"""The whole way from a model to a board: each step calls what the single commands call, and is kept by its content."""
