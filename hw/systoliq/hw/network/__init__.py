"""Stages of a network: each takes the pixels of images in raster order, channels in beats, and gives such a stream."""
