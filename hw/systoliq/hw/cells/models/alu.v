// Simulation model of Gowin's ALU, a bit of a carry chain, written for systoliq from Gowin UG288 (CFU).
//
// Modelled: mode 9, MULT, in which it adds I3 and I0 & I1. Stopped at: any other. Agrees with Yosys' model
// (techlibs/gowin/cells_sim.v) on all inputs: tests/synth/test_gowin_cells.py.
`default_nettype none
module ALU #(
    parameter ALU_MODE = 0
) (
    input wire I0, I1, I3, CIN,
    output wire SUM, COUT
);
    wire both = I0 & I1;
    wire half = both ^ I3;
    assign SUM = half ^ CIN;
    assign COUT = half ? CIN : both;

    initial  // an unconnected carry: the simulator took the model, which nothing uses, for a top of its own
        if (CIN !== 1'bz && ALU_MODE != 9) begin
            $display("ALU: a mode that this model does not have");
            $finish;
        end
endmodule
`default_nettype wire
