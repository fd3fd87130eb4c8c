"""Precision: bits of weights and activations through a whole network, what they cost and what they save."""
