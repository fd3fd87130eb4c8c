"""The client against a board in Python: no wrong answer is taken, and what goes wrong is named."""

from __future__ import annotations

import random

import pytest

from systoliq.board.client import ATTEMPTS, Client
from systoliq.errors import LinkError

from .fake_board import FakeBoard, corrupted


def doubled(operands: bytes) -> bytes:
    return operands[::-1] * 2


def test_all_answers_come_in_order():
    rng = random.Random(0)
    requests = [rng.randbytes(7) for _ in range(300)]  # more than there are numbers
    client = Client(FakeBoard(doubled), seconds=5)
    assert client.identify() == b"someones"
    assert client.run(requests, 14) == [doubled(each) for each in requests]
    assert not client.errors


@pytest.mark.parametrize("way", ["harm", "harm_answer"])
def test_faults_are_repeated_and_no_wrong_answer_is_taken(way):
    rng = random.Random(way)
    requests = [rng.randbytes(9) for _ in range(200)]
    board = FakeBoard(doubled, **{way: lambda line: corrupted(line, rng) if rng.random() < 0.2 else line})
    client = Client(board, seconds=0.01)
    assert client.run(requests, 18) == [doubled(each) for each in requests]
    assert client.errors.total() > 20


def test_an_answer_to_an_older_request_is_not_taken():
    board = FakeBoard(doubled)
    client = Client(board, seconds=0.01)
    late = []

    def harm(line):  # the first answer is held back until the second request
        late.append(line)
        return line if len(late) > 1 else b""

    board.harm_answer = harm
    client.run([b"first"], 10)
    board.waiting += late[0]
    assert client.run([b"again"], 10) == [doubled(b"again")]


@pytest.mark.parametrize(
    ("board", "text"),
    [
        (FakeBoard(doubled, harm=lambda line: b""), f"nothing came in time \\({ATTEMPTS} times\\)"),
        (FakeBoard(lambda operands: None), f"the board said LENGTH \\({ATTEMPTS} times\\)"),
        (FakeBoard(lambda operands: b"a"), "an answer had 1 bytes, not 2"),
        (FakeBoard(doubled, harm_answer=lambda line: line[:-2] + b"~"), "a frame's check is wrong"),
    ],
)
def test_a_board_that_never_answers_right_ends_in_one_error(board, text):
    with pytest.raises(LinkError, match=f"no right answer came in {ATTEMPTS} attempts: .*{text}"):
        Client(board, seconds=0.001).run([b"x"], 2)


@pytest.mark.parametrize("identity", [b"\x07someones", b""])
def test_another_version_of_the_link_is_refused(identity):
    with pytest.raises(LinkError, match="the board's link must have version 1, not"):
        Client(FakeBoard(doubled, identity=identity), seconds=0.001).identify()
