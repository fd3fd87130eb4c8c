"""Packages that are made to keep `verify` busy or to fill the memory are refused soon, without reading them."""

from __future__ import annotations

import os
import shutil

import pytest

from systoliq.verify import verify_package

from .sealing import change, seal

FILES = ("certificate.json", "net.v", "net.json", "net_stages.npz", "net_plan.json", "net_tb.v", "Makefile")


@pytest.fixture
def package(residual, tmp_path):
    return shutil.copytree(residual, tmp_path / "net")


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_is_not_opened(name, package):
    (package / name).unlink()
    os.mkfifo(package / name)
    assert verify_package(package).reasons == (f"{name}: must be a regular file",)


@pytest.mark.parametrize("name", FILES)
def test_a_device_is_not_opened(name, package):
    (package / name).unlink()
    (package / name).symlink_to("/dev/zero")
    assert verify_package(package).reasons == (f"{name}: must be a regular file",)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_many_bytes_is_not_read(name, package):
    os.truncate(package / name, 1 << 40)
    (reason,) = verify_package(package).reasons
    assert reason.startswith(f"{name}: must have at most ")


def test_other_files_beside_a_package_may_have_any_size(package):
    (package / "dump.vcd").touch()
    os.truncate(package / "dump.vcd", 1 << 40)
    (package / "obj_dir").mkdir()
    (package / "net.v~").symlink_to("nothing")
    report = verify_package(package)
    assert report.passed, report.reasons


def test_modules_that_double_forty_times_are_not_counted_out(package):
    """Each module has the next one twice: 2^40 instances in 200 lines."""
    ports = ".clk(clk), .rst(rst), .i__valid"
    header = "(input wire clk, input wire rst, input wire i__valid, output wire o__valid);"
    modules = "".join(
        f"module net_d{k}{header} wire y; net_d{k + 1} a ({ports}(i__valid), .o__valid(y));"
        f" net_d{k + 1} b ({ports}(y), .o__valid(o__valid)); endmodule\n"
        for k in range(40)
    )
    verilog = package / "net.v"
    verilog.write_text(f"{verilog.read_text()}{modules}module net_d40{header} assign o__valid = i__valid; endmodule\n")
    change(verilog, r"module net\(.*?\n()  assign ", f"  wire y; net_d0 doubled ({ports}(rst), .o__valid(y));\n")
    seal(package)
    (reason,) = verify_package(package).reasons
    assert "there are more than 1000000 instances below the module net_d" in reason
