"""Architectures that people build, small, float and with seeded weights: the shape of each, not its size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..onnx.network.networks import Builder, autoencoder, ds_cnn, mobilenet

__all__ = ["ARCHITECTURES", "OPSETS"]


class Net(Builder):
    """A builder with the blocks that architectures share. `last` has `channels`."""

    def __init__(self, *shape: int, seed: int = 1) -> None:
        super().__init__([1, *shape], seed)
        self.channels = shape[0]

    def at(self, tensor: tuple[str, int]) -> Net:
        """Go on from `tensor`, as `here` gave it."""
        self.last, self.channels = tensor
        return self

    @property
    def here(self) -> tuple[str, int]:
        """The last tensor and its channels."""
        return self.last, self.channels

    def conv2(self, m: int, size: int = 3, *, stride: int = 1, groups: int = 1, dilation: int = 1) -> Net:
        """A convolution that keeps the image's size at stride 1."""
        window = {"strides": [stride] * 2, "pads": [dilation * (size // 2)] * 4, "dilations": [dilation] * 2}
        self.conv(self.channels, m, (size, size), groups=groups, **window)
        self.channels = m
        return self

    def conv1(self, m: int, size: int, *, stride: int = 1, dilation: int = 1, causal: bool = False) -> Net:
        """A convolution of sequences that keeps their length at stride 1."""
        w = self.rng.normal(0, 1 / np.sqrt(self.channels * size), (m, self.channels, size))
        names = [self.constant(each.astype(np.float32)) for each in (w, self.rng.normal(0, 0.3, m))]
        both = dilation * (size - 1)
        pads = [both, 0] if causal else [both // 2, both // 2]
        self.add("Conv", self.last, *names, kernel_shape=[size], strides=[stride], dilations=[dilation], pads=pads)
        self.channels = m
        return self

    def relu2(self) -> Net:
        """A Relu."""
        self.relu()
        return self

    def swish(self) -> Net:
        """x * sigmoid(x)."""
        x = self.last
        self.add("Mul", x, self.add("Sigmoid", x))
        return self

    def hard_swish(self) -> Net:
        """HardSwish, an operator of ONNX since opset 14."""
        self.add("HardSwish")
        return self

    def norm(self) -> Net:
        """BatchNormalization that the exporter left in."""
        c = self.channels
        draws = [self.rng.uniform(0.5, 1.5, c), *self.rng.normal(0, 0.3, (2, c)), self.rng.uniform(0.5, 1.5, c)]
        self.add("BatchNormalization", self.last, *(self.constant(each.astype(np.float32)) for each in draws))
        return self

    def group_norm(self, groups: int, size: int) -> Net:
        """GroupNormalization of images of `size` x `size`, as PyTorch exports it."""
        c, shapes = self.channels, ([0, groups, -1], [1, self.channels, size, size])
        ones, zeros = (self.constant(np.full(groups, number, np.float32)) for number in (1, 0))
        by_channel = [self.rng.uniform(0.5, 1.5, (c, 1, 1)), self.rng.normal(0, 0.3, (c, 1, 1))]
        gain, shift = (self.constant(each.astype(np.float32)) for each in by_channel)
        self.add("Reshape", self.last, self.constant(np.array(shapes[0])))
        self.add("InstanceNormalization", self.last, ones, zeros)
        self.add("Reshape", self.last, self.constant(np.array(shapes[1])))
        self.add("Mul", self.last, gain)
        self.add("Add", self.last, shift)
        return self

    def squeeze_excite(self, inner: int) -> Net:
        """Scales for the channels from the average of the image."""
        x, c = self.here
        self.add("GlobalAveragePool")
        self.conv2(inner, 1).relu2().conv2(c, 1)
        self.add("HardSigmoid", self.last, alpha=1 / 6)
        self.add("Mul", x, self.last)
        return self

    def pool(self, size: int = 2, stride: int | None = None, *, average: bool = False, pad: int = 0) -> Net:
        """A maximum or average of windows."""
        operator = "AveragePool" if average else "MaxPool"
        self.add(operator, kernel_shape=[size] * 2, strides=[stride or size] * 2, pads=[pad] * 4)
        return self

    def plus(self, other: str) -> Net:
        """The sum with the tensor `other`."""
        self.add("Add", self.last, other)
        return self

    def cat(self, *others: tuple[str, int]) -> Net:
        """The channels of `others` behind those of the last tensor."""
        self.add("Concat", self.last, *(name for name, _ in others), axis=1)
        self.channels += sum(channels for _, channels in others)
        return self

    def split(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """Both halves of the channels."""
        half = self.channels // 2
        whole, axis = self.last, self.constant(np.array([1], np.int64))
        places = [self.constant(np.array([each], np.int64)) for each in (0, half, self.channels)]
        first, second = (self.add("Slice", whole, *places[i : i + 2], axis) for i in (0, 1))
        return (first, half), (second, half)

    def up(self, mode: str = "nearest") -> Net:
        """Twice the height and width."""
        if mode == "transposed":
            w = self.rng.normal(0, 0.3, (self.channels, self.channels, 2, 2)).astype(np.float32)
            self.add("ConvTranspose", self.last, self.constant(w), strides=[2, 2], kernel_shape=[2, 2])
            return self
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        how = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"} if mode == "nearest" else {}
        self.add("Resize", self.last, "", scales, mode=mode, **how)
        return self

    def transposed(self, m: int) -> Net:
        """A ConvTranspose of 3 x 3 to twice the height and width, with a bias."""
        w = self.rng.normal(0, 1 / np.sqrt(self.channels * 9 / 4), (self.channels, m, 3, 3))
        names = [self.constant(each.astype(np.float32)) for each in (w, self.rng.normal(0, 0.3, m))]
        window = {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1], "kernel_shape": [3, 3]}
        self.add("ConvTranspose", self.last, *names, **window)
        self.channels = m
        return self

    def shuffle(self, groups: int, size: int) -> Net:
        """The channels of `groups`, one of each after the other."""
        c = self.channels
        self.add("Reshape", self.last, self.constant(np.array([1, groups, c // groups, size, size])))
        self.add("Transpose", perm=[0, 2, 1, 3, 4])
        self.add("Reshape", self.last, self.constant(np.array([1, c, size, size])))
        return self

    def head(self, classes: int = 5) -> Net:
        """The average of the image and a dense layer."""
        self.add("GlobalAveragePool")
        self.add("Flatten")
        self.gemm(self.channels, classes)
        return self


def mlp() -> Builder:
    net = Net(12)
    for k, n in ((12, 16), (16, 8)):
        net.gemm(k, n)
        net.relu()
    net.gemm(8, 4)
    return net


def lenet() -> Builder:
    net = Net(1, 12, 12).conv2(4, 5).relu2().pool().conv2(6, 3).relu2().pool()
    net.add("Flatten")
    net.gemm(54, 10)
    net.relu()
    net.gemm(10, 4)
    return net


def vgg() -> Builder:
    net = Net(3, 8, 8)
    for m in (4, 6):
        net.conv2(m).relu2().conv2(m).relu2().pool()
    return net.head()


def resnet() -> Builder:
    """Basic blocks, with a projection where the size changes."""
    net = Net(3, 8, 8).conv2(4).relu2()
    for m, stride in ((4, 1), (6, 2)):
        start = net.here
        body = net.conv2(m, stride=stride).relu2().conv2(m).here
        short = start[0] if stride == 1 else net.at(start).conv2(m, 1, stride=stride).last
        net.at(body).plus(short).relu2()
    return net.head()


def resnet50() -> Builder:
    """Bottlenecks."""
    net = Net(3, 8, 8).conv2(8).relu2().pool(3, 2, pad=1)
    for _ in range(2):
        start = net.last
        net.conv2(4, 1).relu2().conv2(4).relu2().conv2(8, 1).plus(start).relu2()
    return net.head()


def mobilenet_v2() -> Builder:
    """Inverted residuals with Relu6."""
    net = Net(3, 8, 8).conv2(4, stride=2)
    for m in (4, 6):
        start, c = net.here
        net.conv2(3 * c, 1).relu(six=True)
        net.conv2(3 * c, groups=3 * c).relu(six=True)
        net.conv2(m, 1)
        if m == c:
            net.plus(start)
    return net.head()


def mobilenet_v3() -> Builder:
    """Squeeze and excitation, HardSwish."""
    net = Net(3, 8, 8).conv2(4, stride=2).hard_swish()
    start = net.last
    net.conv2(8, 1).hard_swish().conv2(8, groups=8).squeeze_excite(2).hard_swish().conv2(4, 1).plus(start)
    return net.head()


def efficientnet() -> Builder:
    """Squeeze and excitation, Swish."""
    net = Net(3, 8, 8).conv2(4, stride=2).swish()
    net.conv2(8, 1).swish().conv2(8, groups=8).swish().squeeze_excite(2).conv2(4, 1)
    return net.head()


def shufflenet() -> Builder:
    net = Net(3, 8, 8).conv2(8, stride=2).relu2()
    for _ in range(2):
        left, right = net.split()
        net.at(right).conv2(4, 1).relu2().conv2(4, groups=4).conv2(4, 1).relu2()
        body = net.here
        net.at(left).cat(body).shuffle(2, 4)
    return net.head()


def squeezenet() -> Builder:
    """Fire modules."""
    net = Net(3, 8, 8).conv2(6, stride=2).relu2()
    for _ in range(2):
        squeezed = net.conv2(3, 1).relu2().here
        one = net.conv2(4, 1).relu2().here
        net.at(squeezed).conv2(4).relu2()
        three = net.here
        net.at(one).cat(three)
    return net.head()


def densenet(*, average: bool = False) -> Builder:
    """Dense blocks, with a transition between."""
    net = Net(3, 8, 8).conv2(4).relu2()
    for _ in range(2):
        before = net.here
        net.conv2(3).relu2().cat(before)
    net.conv2(4, 1).pool(average=average)
    return net.head()


def unet(mode: str) -> Callable[[], Builder]:
    def made() -> Builder:
        net = Net(2, 8, 8).conv2(4).relu2()
        high = net.here
        net.pool().conv2(6).relu2()
        low = net.here
        net.pool().conv2(8).relu2().up(mode).cat(low).conv2(6).relu2().up(mode).cat(high).conv2(3)
        return net

    return made


def yolo() -> Builder:
    """C2f blocks: a split, a bottleneck on one half, all concatenated; a head on the upsampled image."""
    net = Net(3, 8, 8).conv2(8, stride=2).swish()
    left, right = net.split()
    body = net.at(right).conv2(4).swish().conv2(4).swish().plus(right[0]).here
    net.at(left).cat(right, body).conv2(8, 1).swish()
    high = net.here
    net.conv2(8, stride=2).swish().up().cat(high).conv2(6, 1)
    return net


def tcn() -> Builder:
    """Causal convolutions of sequences, further and further apart, with residuals."""
    net = Net(3, 16).conv1(6, 3, causal=True).relu2()
    for dilation in (2, 4):
        start = net.last
        net.conv1(6, 3, dilation=dilation, causal=True).relu2().plus(start).relu2()
    return net.head()


def ecg() -> Builder:
    """Convolutions of a sequence, each behind a maximum of windows."""
    net = Net(1, 32)
    for m in (4, 6):
        net.conv1(m, 5).norm().relu2()
        net.add("MaxPool", kernel_shape=[2], strides=[2])
    return net.head()


def conv_autoencoder() -> Builder:
    net = Net(2, 8, 8)
    for m in (4, 6):
        net.conv2(m, stride=2).relu2()
    for m in (4, 2):
        net.up().conv2(m).relu2()
    return net


def transposed_autoencoder() -> Builder:
    net = Net(1, 8, 8)
    for m in (4, 6):
        net.conv2(m, stride=2).relu2()
    net.transposed(4).relu2().transposed(1)
    net.add("Sigmoid")
    return net


def super_resolution() -> Builder:
    """Pixels from channels."""
    net = Net(1, 6, 6).conv2(4, 5).relu2().conv2(4).relu2().conv2(4)
    net.add("DepthToSpace", net.last, blocksize=2, mode="CRD")
    net.channels = 1
    return net.conv2(1)


def dilated() -> Builder:
    """A fully convolutional network with windows that reach further and further."""
    net = Net(2, 8, 8)
    for dilation in (1, 2, 4):
        net.conv2(4, dilation=dilation).relu2()
    return net.conv2(3, 1)


def segmentation() -> Builder:
    """A fully convolutional network whose classes are interpolated to the size of the image."""
    return Net(2, 8, 8).conv2(4, stride=2).relu2().conv2(4, dilation=2).relu2().conv2(3, 1).up("linear")


def group_norms() -> Builder:
    return Net(2, 6, 6).conv2(4).group_norm(2, 6).relu2().conv2(4, stride=2).group_norm(4, 3).relu2().head()


ARCHITECTURES: dict[str, Callable[[], Builder]] = {
    "mlp": mlp, "autoencoder": autoencoder, "lenet": lenet, "vgg": vgg, "resnet": resnet, "resnet50": resnet50,
    "mobilenet": mobilenet, "mobilenet_v2": mobilenet_v2, "mobilenet_v3": mobilenet_v3, "efficientnet": efficientnet,
    "shufflenet": shufflenet, "squeezenet": squeezenet, "densenet": densenet,
    "densenet, average": lambda: densenet(average=True), "unet": unet("nearest"), "unet, linear": unet("linear"),
    "unet, transposed": unet("transposed"), "yolo": yolo, "tcn": tcn, "ecg": ecg, "ds_cnn": ds_cnn,
    "conv_autoencoder": conv_autoencoder, "transposed_autoencoder": transposed_autoencoder,
    "super_resolution": super_resolution, "dilated": dilated,
    "segmentation": segmentation, "group_norms": group_norms,
}  # fmt: skip
"""Each float model by name."""
OPSETS = dict.fromkeys(ARCHITECTURES, 13) | {"mobilenet_v3": 14}
"""ONNX's opset of each."""
