"""Where outputs go: whole, into regular files and directories alone, and for one process after the other."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.files import check_file, write_file
from systoliq.package.output import check_output, write_output

from ..cli.refused import assert_refused

EMIT = ["emit", "array", "--rows", "1", "--cols", "1"]


def special(kind: str, path) -> None:
    """Something at `path` that is no regular file; the device is a link to none, or a node of its own in `path`."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif kind == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))  # a node of our own that is full, as /dev/full is
        except PermissionError:
            pytest.skip("only root may make device nodes")
    elif kind == "link":
        (path.parent / "elsewhere").write_text("kept")
        path.symlink_to("elsewhere")
    else:
        path.symlink_to("nowhere")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "link", "dangling link"])
@pytest.mark.parametrize("option", ["--output", "--report", "--waves"])
def test_what_is_no_regular_file_is_left_alone(kind, option, call, save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "y.vcd"
    special(kind, path)
    before = path.lstat()
    given = save("in.npz", a=np.zeros((2, 64), np.int8))
    expected = {"pipe": "y.vcd is a pipe", "socket": "y.vcd is a socket", "device": "y.vcd is a device",
                "link": "y.vcd is a link to elsewhere: name that", "dangling link": "is a link to nowhere"}  # fmt: skip
    assert_refused(call("simulate", "resnet8-fc", "--input", given, option, "y.vcd"), expected[kind])
    with pytest.raises(InputError):
        write_file(path, b"content")
    after = path.lstat()
    assert (before.st_mode, before.st_ino, before.st_rdev) == (after.st_mode, after.st_ino, after.st_rdev)
    assert not (tmp_path / "nowhere").exists()


def test_a_file_keeps_its_mode_and_a_new_one_has_the_usual(tmp_path):
    old = os.umask(0o027)
    try:
        write_file(tmp_path / "new", b"1")
        write_file(tmp_path / "old", b"1")
        (tmp_path / "old").chmod(0o604)
        write_file(tmp_path / "old", b"2")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o604
    assert (tmp_path / "old").read_bytes() == b"2"
    assert {path.name for path in tmp_path.iterdir()} == {"new", "old"}


def test_a_file_in_the_place_of_its_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"report: the directory .*file must exist"):
        check_file("report", tmp_path / "file" / "r.json")


def test_a_directory_that_is_a_link_is_reported(call, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to("elsewhere")
    result = call(*EMIT, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert f"note: {tmp_path}/out is a link: what is written goes to {tmp_path}/elsewhere\n" in result.stderr
    assert (tmp_path / "elsewhere" / "array.v").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"elsewhere", "out"}


def test_a_sidecar_that_claims_what_is_not_in_its_directory(tmp_path):
    """Files outside stay, whatever it says."""
    (tmp_path / "mine.txt").write_text("kept")
    sidecar = b'{"generator": "systoliq", "files": {"../mine.txt": "", "/etc/hostname": ""}}'
    write_output(tmp_path / "out", {"x.json": sidecar})
    write_output(tmp_path / "out", {"y.json": sidecar})
    assert (tmp_path / "mine.txt").read_text() == "kept"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"y.json"}


@pytest.mark.slow
def test_ten_at_once_leave_one_whole_package(tmp_path):
    command = [sys.executable, "-c", "from systoliq.cli.main import main; main()", *EMIT, "--out", "out"]
    running = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
               for _ in range(10)]  # fmt: skip
    said = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 10, said
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    alone = [*command[:-1], "alone"]
    subprocess.run(alone, cwd=tmp_path, check=True, capture_output=True)
    for path in (tmp_path / "alone").iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()
    assert len(list((tmp_path / "out").iterdir())) == len(list((tmp_path / "alone").iterdir()))


def test_a_directory_is_not_looked_at_while_another_is_put_in_its_place(call, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    assert call(*EMIT, "--out", tmp_path / "out").exit_code == 0
    turn = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(turn, fcntl.LOCK_EX)
    (tmp_path / "out").rename(tmp_path / "away")
    found = []
    checks = threading.Thread(target=lambda: found.append(check_output(tmp_path / "out")))
    checks.start()
    checks.join(0.3)
    assert checks.is_alive()
    (tmp_path / "away").rename(tmp_path / "out")
    os.close(turn)
    checks.join()
    assert found == [{path.name for path in (tmp_path / "out").iterdir()}]


def test_a_name_that_would_be_two_files(call, tmp_path):
    result = call(*EMIT[:1], "resnet8-fc", "--name", "certificate", "--out", tmp_path / "out")
    assert_refused(result, "name must not be 'certificate': certificate.json would be two files of the package")
    assert not (tmp_path / "out").exists()
