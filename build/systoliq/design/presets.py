"""Presets: the sources that have a name of their own."""

__all__ = ["DIGITS_NETWORKS", "PRESETS"]

PRESETS = {
    "resnet8-fc": "the last layer of ResNet8, 64 -> 10, int8, with example weights (or those of --weights)",
    "digits": "scikit-learn's digits, 64 -> 10: a linear classifier that systoliq trains and quantizes",
    "digits-cnn": "the same digits with a small convolutional network, int8; needs onnx",
    "digits-vit": "the same digits with a small vision transformer, int8; needs onnx",
    "array": "the array with its drain, without a layer",
    "engine": "the programmable engine: any QLinearMatMul and MatMulInteger, job after job",
}
"""The name of each preset, with its description."""

DIGITS_NETWORKS = ("digits-cnn", "digits-vit")
"""The presets that are networks for scikit-learn's digits."""
