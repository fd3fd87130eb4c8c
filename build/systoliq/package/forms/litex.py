"""The form for LiteX: a Python module with the block as a LiteXModule, its buses on LiteX' own.

LiteX is needed to import that module, but not to write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .block import Block, Interface, Port

__all__ = ["litex_module"]

_CHANNEL = re.compile(r"(aw|ar|w|b|r)(\w+)")

_HEAD = '''\
"""{kind} `{name}` as a LiteX module, written by systoliq: registers and masters on the SoC's bus, streams by DMA.

    from {name}_litex import Block

    soc.{name} = Block(platform)
    soc.{name}.add_to(soc, "{name}"{origin})

To connect a stream elsewhere, leave it out of `dma` and use its attribute, an AXIStreamInterface of LiteX.
"""

from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.cores.dma import WishboneDMAReader, WishboneDMAWriter
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi, stream, wishbone
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetSignal, Signal

FOLDER = Path(__file__).resolve().parent
SOURCES = {sources}
MODELS = {models}  # of vendor cells, for simulation only
MEMORIES = {memories}  # copy them to the tool's working directory


class Block(LiteXModule):
    """The block, in the clock domain "sys". `simulation` adds the models of its vendor cells."""

    def __init__(self, platform, *, simulation=False):
'''

_ADD = '''
    def add_to(self, soc, name{origin}, dma={dma}{dram}):
        """Put its registers and masters on the bus of `soc`, and the streams called in `dma` behind DMA with CSRs.

        DMA moves words of the bus, the lowest byte first, with `last` on the last one of its length; the width of a
        stream must divide the bus width, or be a multiple of it. `name` must be the block's attribute in `soc`: LiteX
        looks there for its interrupt.
{about}        """
'''

_ABOUT_DRAM = """
        With `dram`, LiteDRAM's crossbar (`soc.sdram.crossbar`), the masters share one port of it instead of the bus:
        bursts stay bursts. Their addresses must be in `main_ram`; others wrap around. The port is behind the bus's L2
        cache, so build the SoC with `l2_size=0`, or flush the cache before a list starts and after it ends.
"""

_MASTERS = """\
        masters = {{{masters}}}
        if dram is None:
            for master, interface in masters.items():
                soc.bus.add_master(f"{{name}}_{{master}}", interface)
        else:
            from litedram.frontend.axi import LiteDRAMAXI2Native

            if dram.controller.data_width > {data}:  # LiteDRAM's converter to a wider port takes data before addresses
                raise ValueError(
                    f"the masters have {data} bits, but LiteDRAM's controller has {{dram.controller.data_width}}: "
                    "emit the engine with a --bus of at least as many, or leave out dram"
                )
            # One port for all: a read that follows an answered write cannot overtake it.
            self.m_axi = axi.AXIInterface(data_width={data}, address_width={address}, id_width={identity})
            self.arbiter = axi.AXIArbiter([*masters.values()], self.m_axi)
            base = soc.bus.regions["main_ram"].origin
            self.dram = LiteDRAMAXI2Native(self.m_axi, dram.get_port(data_width={data}), base_address=base)
"""

_REGISTERS = """\
        region = SoCRegion(origin=origin, size=1 << {bits}, cached=False)
        soc.bus.add_slave(name, self.{port}, region)
"""

_IRQ = """\
        if getattr(soc, "irq", None) is not None and soc.irq.enabled:
            soc.irq.add(name, use_loc_if_exists=True)
"""

_DMA = """\
        for each in dma:
            axis, width = getattr(self, each), soc.bus.data_width
            if axis.user_width:
                raise ValueError(f"{each} must be left out of dma, which does not support tuser")
            if max(axis.data_width, width) % min(axis.data_width, width):
                raise ValueError(
                    f"{each} must have a width that divides the bus's {width} bits or is a multiple of it, "
                    f"not {axis.data_width}: leave it out of dma"
                )
            bus = wishbone.Interface(data_width=width, address_width=soc.bus.address_width, addressing="word")
            reads = each.startswith("s_")
            # "big" leaves the bytes of a word where they are
            mover = (WishboneDMAReader if reads else WishboneDMAWriter)(bus, endianness="big", with_csr=True)
            ends = (width, axis.data_width) if reads else (axis.data_width, width)
            converter = stream.Converter(*ends)
            setattr(self, f"{each}_dma", mover)
            setattr(self, f"{each}_converter", converter)
            source, sink = (mover.source, axis) if reads else (axis, mover.sink)
            for one, other in ((source, converter.sink), (converter.source, sink)):
                self.comb += [
                    other.valid.eq(one.valid),
                    other.data.eq(one.data),
                    other.last.eq(one.last),
                    one.ready.eq(other.ready),
                ]
            soc.bus.add_master(f"{name}_{each}", bus)
"""


def litex_module(block: Block) -> str:
    """The text of the module, whose class is `Block`."""
    control = block.control
    streams = [each for each in block.interfaces if each.protocol == "axi4-stream"]
    origin = "" if control is None else ", origin=0x8000_0000"
    text = _HEAD.format(
        kind=block.kind.replace("_", " ").capitalize(),
        name=block.name,
        origin=origin,
        sources=repr((block.rtl,)),
        models=repr(block.models),
        memories=repr(block.memories),
    )
    text += "".join(f"        {line}\n" for line in _body(block))
    dma = repr(tuple(each.name for each in streams if "TUSER" not in each.signals))
    masters = [each for each in block.interfaces if each.protocol == "axi4"]
    text += _ADD.format(
        origin="" if control is None else ", origin",
        dma=dma,
        dram=", dram=None" if masters else "",
        about=_ABOUT_DRAM if masters else "",
    )
    if control is not None:
        bits = control.signals["AWADDR"].width
        text += _REGISTERS.format(port=control.name, bits=bits)
    if masters:
        data, address, identity = _widths(masters[0])
        pairs = ", ".join(f'"{each.name}": self.{each.name}' for each in masters)
        text += _MASTERS.format(masters=pairs, data=data, address=address, identity=identity)
    if block.interrupt is not None:
        text += _IRQ
    return text + _DMA


def _body(block: Block) -> Iterator[str]:
    """The lines of `__init__`: interfaces, the instance, its files."""
    others = [port for port in block.ports if port.name not in (block.clock, block.reset)]
    for each in block.interfaces:
        yield f"self.{each.name} = {_interface(each)}"
        others = [port for port in others if port not in each.signals.values()]
    for port in others:
        yield f"self.{port.name} = Signal({port.width})"
    yield "self.specials += Instance("
    yield f'    "{block.name}",'
    yield f'    i_{block.clock}=ClockSignal("sys"),'
    inverted = "" if block.reset_is_high else "~"
    yield f'    i_{block.reset}={inverted}ResetSignal("sys"),'
    for each in block.interfaces:
        for signal, port in each.signals.items():
            yield f"    {_pin(port)}=self.{each.name}.{_field(each, signal, port)},"
    yield from (f"    {_pin(port)}=self.{port.name}," for port in others)
    yield ")"
    if block.interrupt is not None:
        yield "self.ev = EventManager()"
        yield "self.ev.done = EventSourceLevel()"
        yield "self.ev.finalize()"
        yield f"self.comb += self.ev.done.trigger.eq(self.{block.interrupt.name})"
    yield "for file in SOURCES + (MODELS if simulation else ()):"
    yield "    platform.add_source(str(FOLDER / file))"


def _pin(port: Port) -> str:
    return f"{port.direction[0]}_{port.name}"


def _interface(each: Interface) -> str:
    """LiteX' object for an interface."""
    width = {name: port.width for name, port in each.signals.items()}
    if each.protocol == "axi4-stream":
        more = [f", {name.lower()[1:]}_width={width[name]}" for name in ("TKEEP", "TUSER") if name in width]
        return f"axi.AXIStreamInterface(data_width={width['TDATA']}{''.join(more)})"
    data, address, identity = _widths(each)
    if each.protocol == "axi4-lite":
        return f"axi.AXILiteInterface(data_width={data}, address_width=32)"
    return f"axi.AXIInterface(data_width={data}, address_width={address}, id_width={identity}, bursting=True)"


def _widths(each: Interface) -> tuple[int, int, int]:
    """Bits of the data, addresses and IDs of an AXI4 or AXI4-Lite interface; of IDs 1 if it has none."""
    width = {name: port.width for name, port in each.signals.items()}
    kind, channel = ("R", "AR") if "ARADDR" in width else ("W", "AW")
    return width[f"{kind}DATA"], width[f"{channel}ADDR"], width.get(f"{channel}ID", 1)


def _field(each: Interface, signal: str, port: Port) -> str:
    """The name of an interface's port in LiteX' object."""
    if each.protocol == "axi4-stream":
        return signal.lower().removeprefix("t")
    found = _CHANNEL.fullmatch(signal.lower())
    channel, name = found.groups() if found else ("", signal.lower())
    low = f"[:{port.width}]" if each.protocol == "axi4-lite" and name == "addr" else ""
    return f"{channel}.{name}{low}"
