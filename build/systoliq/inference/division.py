"""Division of a lowered model into steps, with what runs the host's part of them and what onnxruntime expects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from ..onnx.runtime import Session
from ..onnx.unsaturated import unsaturated
from .host import HostPiece, constants_of, watched
from .left_in_float import left_in_float
from .lowering import Lowered
from .operations import Array
from .steps import EngineStep, HostStep, VectorStep, cut, made_by

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Division"]


class Division:
    """`model` cut into `steps`, see `cut`. `host` are the products of the host's steps, with operator and reason.

    `crossing` are the tensors that steps make for one another, and the model's outputs; `constants` those that
    products, `vectors` and outputs take. The engine has `memory` or streams. InputError where it gets no product.
    """

    def __init__(
        self,
        model: Lowered,
        *,
        only: Collection[str] | None = None,
        refused: Mapping[str, str] | None = None,
        vectors: Sequence[VectorStep] = (),
        memory: bool = False,
    ) -> None:
        self.model = model
        self.steps = cut(model.graph, only, left_in_float(model) | dict(refused or {}), vectors, memory=memory)
        host_steps = [step for step in self.steps if isinstance(step, HostStep)]
        self.host = {name: why for step in host_steps for name, why in step.products.items()}
        self.products = [step for step in self.steps if isinstance(step, EngineStep)]
        if not self.products:
            listed = "; ".join(f"{operator} {name!r}: {why}" for name, (operator, why) in [*self.host.items()][:5])
            raise InputError(f"{model.path}: must have a product of 8-bit integers, and has {listed or 'no product'}")
        self.pieces = {step: HostPiece(model.model, step) for step in host_steps}
        self.crossing = [name for step in self.steps for name in made_by(step)]
        self._watched = self._session(model.model)
        outputs = {each.name for each in model.session.outputs}
        taken = {name for step in self.products for name in step.node.input} | outputs
        taken |= {name for step in vectors for name in step.inputs}
        self.constants = constants_of(model.model, taken)

    def expected(self, feed: Mapping[str, Array]) -> dict[str, Array]:
        """Return what onnxruntime has for each tensor of `crossing`."""
        return self._watched.run(self.crossing, feed)

    def unsaturated(self, feed: Mapping[str, Array]) -> dict[str, Array]:
        """Return what onnxruntime has for the same tensors with kernels that do not saturate for `products`."""
        model = unsaturated(self.model.model, [step.node.output[0] for step in self.products])
        return self._session(model).run(self.crossing, feed)

    def _session(self, model: ModelProto) -> Session:
        return Session(watched(model, self.crossing), str(self.model.path), as_it_is=True)
