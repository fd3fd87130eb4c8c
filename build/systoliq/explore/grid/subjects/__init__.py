"""Subjects of exploration, each kind with its axes, designs, models, and the commands that emit its points."""
