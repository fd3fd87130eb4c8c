"""Measurements for docs and README: area, frequency, cycles, emission and simulation speed."""
