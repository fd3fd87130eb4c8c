// Simulation model of ECP5's PFUMX, the multiplexer behind two lookup tables of a slice, written for systoliq.
//
// Agrees with Yosys' model (techlibs/ecp5/cells_sim.v) on all inputs: tests/synth/test_models.py.
`default_nettype none
module PFUMX (
    input wire ALUT, BLUT, C0,
    output wire Z
);
    assign Z = C0 ? ALUT : BLUT;
endmodule
`default_nettype wire
