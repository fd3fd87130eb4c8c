"""Link: a serial line with frames, and the bridge from it to the streams of a layer or a network.

    rx -> UartReceiver -> FrameReceiver -> memory -> Feeder -> s_axis_a ... m_axis_y -> Answerer -> FrameTransmitter
                                                                                              -> UartTransmitter -> tx

`framing` is the same protocol in Python, for the host and for tests.
"""

from .framing import VERSION, Command, Deframer, FrameError, Status, encode, request
from .linked import Linked

__all__ = ["VERSION", "Command", "Deframer", "FrameError", "Linked", "Status", "encode", "request"]
