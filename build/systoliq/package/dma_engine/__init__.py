"""The package of a DMA engine: description, files, register map."""
