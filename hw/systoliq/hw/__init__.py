"""The hardware that computes it: Amaranth; asks golden for formats and constants."""
