// Simulation model of ECP5's L6MUX21, the multiplexer behind two PFUMX, written for systoliq.
//
// Agrees with Yosys' model (techlibs/ecp5/cells_sim.v) on all inputs: tests/synth/test_models.py.
`default_nettype none
module L6MUX21 (
    input wire D0, D1, SD,
    output wire Z
);
    assign Z = SD ? D1 : D0;
endmodule
`default_nettype wire
