"""The zoo's architectures on a DMA engine with a vector unit: which are one list with float edges for the host."""

from __future__ import annotations

import pytest

from .architectures import ARCHITECTURES
from .one_list import division_of

WHOLE = (
    "mlp", "autoencoder", "lenet", "vgg", "resnet", "resnet50", "mobilenet", "mobilenet_v2", "mobilenet_v3",
    "efficientnet", "shufflenet", "squeezenet", "densenet", "unet", "yolo", "tcn", "ecg", "ds_cnn", "conv_autoencoder",
    "super_resolution", "dilated",
)  # fmt: skip


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_is_one_list(name):
    assert division_of(name).whole == (name in WHOLE)
