"""Rules for the modules of a package, so that every tool reads them in the same way.

Modules  ->  nothing, or an `UnreadableError` that names the first broken rule

There is one top, which uses all modules; their names begin with its name. Instances are known, and all of their inputs
are connected at full width. Each bit has one driver of one kind: registers in one clocked statement, nets by
assignments or instances, inputs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .cell_pins import CELL_OUTPUTS
from .expression import Binary, Call, Concat, Constant, Expression, Name, Signed, Ternary, Unary, UnreadableError
from .modules import Assignment, Function, Instance, Module
from .syntax import CLOCK, CLOCK_PINS
from .widths import function_of, width_of

__all__ = ["check_rules"]

_MOST_INSTANCES = 1_000_000  # of modules, each as often as it is placed


def check_rules(modules: Mapping[str, Module], top: str) -> None:
    """Raise UnreadableError if the `modules` of the package `top` break a rule."""
    _check_hierarchy(modules, top)
    at = top
    try:
        for at, module in modules.items():  # noqa: B007 - the error names it
            _check_module(modules, module)
    except UnreadableError as error:
        raise UnreadableError(f"module {at}: {error}") from error


def _check_hierarchy(modules: Mapping[str, Module], top: str) -> None:
    if top not in modules:
        raise UnreadableError(f"there is no module {top}")
    for name in modules:
        if name != top and not name.startswith(f"{top}_"):
            raise UnreadableError(f"modules must be called {top} or {top}_..., not {name}")
    done: dict[str, int] = {}  # instances below each module
    open_: list[tuple[str, Iterator[str]]] = [(top, _kinds(modules, top))]
    path = [top]
    while open_:  # depth first, without recursion
        name, kinds = open_[-1]
        kind = next(kinds, None)
        if kind is None:
            open_.pop()
            path.pop()
            done[name] = sum(1 + done[each.kind] for each in modules[name].instances.values() if each.kind in modules)
            if done[name] > _MOST_INSTANCES:
                raise UnreadableError(f"there are more than {_MOST_INSTANCES} instances below the module {name}")
        elif kind in path:
            raise UnreadableError(f"module {kind} is within itself")
        elif kind not in done:
            open_.append((kind, _kinds(modules, kind)))
            path.append(kind)
    if unused := sorted(modules.keys() - done):
        raise UnreadableError(f"no module uses the module {unused[0]}")


def _kinds(modules: Mapping[str, Module], name: str) -> Iterator[str]:
    return iter(sorted({each.kind for each in modules[name].instances.values() if each.kind in modules}))


def _check_module(modules: Mapping[str, Module], module: Module) -> None:
    driven: dict[str, dict[str, int]] = {"register": {}, "net": {}}  # the bits that are driven, by name
    for assignment in module.clocked:
        _drive(module, assignment.target, driven["register"], register=True)
    for assignment in module.assignments:
        _drive(module, assignment.target, driven["net"], register=False)
    for assignment in (*module.assignments, *module.clocked):
        _check_assignment(module, assignment)
    for function in module.functions.values():
        _check_function(function)
    for instance in module.instances.values():
        outputs = _check_instance(modules, module, instance)
        for port in outputs:
            _drive(module, instance.ports[port], driven["net"], register=False)
        for port, connection in instance.ports.items():
            if not _is_clock(connection):
                _check_expression(module, connection)
            elif not CLOCK_PINS.fullmatch(port):
                raise UnreadableError(f"{instance.name}.{port} is connected to the clock")


def _drive(module: Module, target: Expression, driven: dict[str, int], *, register: bool) -> None:
    """Note in `driven` which bits `target` has; each may be there once, and of the kind that is asked for."""
    for part in target.parts if isinstance(target, Concat) else (target,):
        if not isinstance(part, Name) or (part.low is not None and not isinstance(part.low, Constant)):
            if register and isinstance(part, Name) and module.wires[part.name].words:
                _drive_memory(part.name, driven)
                continue
            raise UnreadableError("an output is connected to what is no net")
        name, wire = part.name, module.wires[part.name]
        if wire.words:
            _drive_memory(name, driven)
            continue
        if name in module.inputs:
            raise UnreadableError(f"the input {name} is driven")
        if wire.register != register:
            raise UnreadableError(f"{name} is a {'register' if wire.register else 'net'}, and is not driven as one")
        low = part.low.value or 0 if part.low is not None else 0
        bits = ((1 << (wire.width if part.width is None else part.width)) - 1) << low
        if driven.get(name, 0) & bits:
            raise UnreadableError(f"{name} is driven twice")
        driven[name] = driven.get(name, 0) | bits


def _drive_memory(name: str, driven: dict[str, int]) -> None:
    if name in driven:
        raise UnreadableError(f"the memory {name} is written to in two places")
    driven[name] = 1


def _check_assignment(module: Module, assignment: Assignment) -> None:
    _check_expression(module, assignment.target)
    _check_expression(module, assignment.value)
    if assignment.condition is not None:
        _check_expression(module, assignment.condition)


def _check_function(function: Function) -> None:
    arguments = dict(function.arguments)
    for result in (*(result for _, result in function.cases), function.otherwise):
        if isinstance(result, Constant):
            width = result.width
        elif isinstance(result, Name) and result.name in arguments and isinstance(result.low, Constant | None):
            width = arguments[result.name] if result.width is None else result.width
            if width + ((result.low.value or 0) if result.low else 0) > arguments[result.name]:
                raise UnreadableError(f"a function takes bits beyond its argument {result.name}")
        else:
            raise UnreadableError("a function is no multiplexer")
        if width != function.width:
            raise UnreadableError(f"a function of {function.width} bits has a result of {width}")


def _check_instance(modules: Mapping[str, Module], module: Module, instance: Instance) -> list[str]:
    """The names of its outputs that are connected."""
    kind, name = instance.kind, instance.name
    if kind in CELL_OUTPUTS:
        outputs = CELL_OUTPUTS[kind]
        for port, connection in instance.ports.items():
            if port in outputs and width_of(module, connection) != outputs[port]:
                raise UnreadableError(f"{name}.{port} has {outputs[port]} bits, and is connected to others")
            if CLOCK_PINS.fullmatch(port) and not _is_clock(connection) and not isinstance(connection, Constant):
                raise UnreadableError(f"{name}.{port} must be connected to {CLOCK}")
        return [port for port in instance.ports if port in outputs]
    if kind not in modules:
        raise UnreadableError(f"{name} is a {kind}, which is no module of the package and no cell that is known")
    placed = modules[kind]
    if instance.parameters:
        raise UnreadableError(f"{name} is given parameters, which {kind} has not")
    for port, connection in instance.ports.items():
        if port not in placed.inputs and port not in placed.outputs:
            raise UnreadableError(f"{name} is a {kind}, which has no port {port}")
        if (found := width_of(module, connection)) != (width := placed.wires[port].width):
            raise UnreadableError(f"{name}.{port} has {width} bits, and is connected to {found}")
    if missing := sorted(placed.inputs - set(instance.ports)):
        raise UnreadableError(f"{name}.{missing[0]} is not connected")
    if CLOCK in placed.inputs and not _is_clock(instance.ports[CLOCK]):
        raise UnreadableError(f"{name}.{CLOCK} must be connected to {CLOCK}")
    return [port for port in instance.ports if port in placed.outputs]


def _is_clock(connection: Expression) -> bool:
    return isinstance(connection, Name) and connection.name == CLOCK


def _check_expression(module: Module, expression: Expression) -> None:
    """Parts must be within their nets, and arguments of functions have their width."""
    match expression:
        case Name(name, low, width):
            wire = module.wires[name]
            if wire.words and (low is None or width != 1):
                raise UnreadableError(f"the memory {name} is used other than word by word")
            if isinstance(low, Constant):
                end = (low.value or 0) + (0 if wire.words else (width or 1) - 1)
                if end >= (wire.words or wire.width):
                    raise UnreadableError(f"{name} has no bit or word {end}")
            elif low is not None:
                _check_expression(module, low)
        case Unary(_, operand) | Signed(operand, _):
            _check_expression(module, operand)
        case Binary(_, left, right):
            _check_expression(module, left)
            _check_expression(module, right)
        case Ternary(condition, yes, no):
            for each in (condition, yes, no):
                _check_expression(module, each)
        case Concat(parts):
            for each in dict.fromkeys(parts):
                _check_expression(module, each)
        case Call(_, arguments):
            function = function_of(module, expression)
            for (name, width), argument in zip(function.arguments, arguments, strict=True):
                _check_expression(module, argument)
                if (found := width_of(module, argument)) != width:
                    raise UnreadableError(f"the argument {name} of {expression.function} has {width} bits, not {found}")
