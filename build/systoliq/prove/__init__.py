"""systoliq.prove: formal proofs of the hardware, and for each a seeded bug that it catches."""
