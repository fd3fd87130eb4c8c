"""All steps from a model to a board: each step runs the code of its own command, and is cached by content."""
