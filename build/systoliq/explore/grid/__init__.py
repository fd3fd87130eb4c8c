"""A space of designs, measured point by point: from the cycle model to the front, placed and cosimulated."""
