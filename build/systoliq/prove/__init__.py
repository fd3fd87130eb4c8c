"""systoliq.prove: formal proofs of the hardware, each with a seeded bug that it must catch."""
