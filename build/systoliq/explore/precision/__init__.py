"""Precision: bits of weights and activations through a whole network, their cost in accuracy, and hardware savings."""
