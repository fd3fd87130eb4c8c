// Simulation model of ECP5's LUT4, a lookup table of four inputs (index DCBA), written for systoliq.
//
// Agrees with Yosys' model (techlibs/ecp5/cells_sim.v) on all inputs: tests/synth/test_models.py.
`default_nettype none
module LUT4 #(
    parameter [15:0] INIT = 16'h0000
) (
    input wire A, B, C, D,
    output wire Z
);
    // By halving and not by index: an unknown input then does no harm where both halves agree.
    wire [7:0] by_d = D ? INIT[15:8] : INIT[7:0];
    wire [3:0] by_c = C ? by_d[7:4] : by_d[3:0];
    wire [1:0] by_b = B ? by_c[3:2] : by_c[1:0];
    assign Z = A ? by_b[1] : by_b[0];
endmodule
`default_nettype wire
