"""The last layer of ResNet8 from the archive of known results, which is kept outside the project."""

from systoliq.golden import MatMulLayer

__all__ = ["resnet8_layer"]

_NAMES = {"b": "weights", "a_zero_point": "a_zp", "b_zero_point": "b_zp", "y_zero_point": "y_zp"}
_FIELDS = ("b", "a_scale", "a_zero_point", "b_scale", "b_zero_point", "y_scale", "y_zero_point", "bias")


def resnet8_layer(arrays):
    return MatMulLayer(name="resnet8_fc", **{field: arrays[_NAMES.get(field, field)] for field in _FIELDS})
