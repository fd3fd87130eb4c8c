"""Boards: bitstreams of a layer or a network behind a serial link, and the client that sends rows to them.

Design -> linked (hw.link) -> platform of amaranth-boards -> `bitstream` (Yosys, nextpnr, packer) -> a board
-> `simulated`                                                          |
Client <- Port (a serial port, or a pseudo-terminal) <-
"""
