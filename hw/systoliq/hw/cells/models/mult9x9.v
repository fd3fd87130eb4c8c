// Simulation model of Gowin's MULT9X9, written for systoliq from Gowin UG287 (DSP).
//
// Modelled: signed and unsigned operands; the registers of operands, of their signs, of the product and of the output, each
// on or off, with CE and the synchronous RESET. Not modelled, and stopped at: operands shifted in from SIA and SIB,
// asynchronous reset. SOA and SOB, the operands' way to the next multiplier, are unknown: nothing reads them.
`default_nettype none
module MULT9X9 #(
    parameter AREG = 1'b0, parameter BREG = 1'b0, parameter OUT_REG = 1'b0, parameter PIPE_REG = 1'b0,
    parameter ASIGN_REG = 1'b0, parameter BSIGN_REG = 1'b0, parameter SOA_REG = 1'b0, parameter MULT_RESET_MODE = "SYNC"
) (
    input wire [8:0] A, SIA, B, SIB,
    input wire ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET,
    output wire [17:0] DOUT,
    output wire [8:0] SOA, SOB
);
    reg [8:0] a, b;
    reg a_sign, b_sign;
    reg [17:0] pipeline, out;
    wire [8:0] a_used = AREG ? a : A;
    wire [8:0] b_used = BREG ? b : B;
    // One more bit makes both kinds of operand signed.
    wire signed [9:0] a_whole = {(ASIGN_REG ? a_sign : ASIGN) & a_used[8], a_used};
    wire signed [9:0] b_whole = {(BSIGN_REG ? b_sign : BSIGN) & b_used[8], b_used};
    wire signed [19:0] full = a_whole * b_whole;
    wire [17:0] piped = PIPE_REG ? pipeline : full[17:0];
    always @(posedge CLK)
        if (RESET) begin
            a <= 0;
            b <= 0;
            a_sign <= 0;
            b_sign <= 0;
            pipeline <= 0;
            out <= 0;
        end else if (CE) begin
            a <= A;
            b <= B;
            a_sign <= ASIGN;
            b_sign <= BSIGN;
            pipeline <= full[17:0];
            out <= piped;
        end
    assign DOUT = OUT_REG ? out : piped;
    assign SOA = {9{1'bx}};
    assign SOB = {9{1'bx}};

    initial  // an unconnected clock: the simulator took the model, which nothing uses, for a top of its own
        if (CLK !== 1'bz && (MULT_RESET_MODE != "SYNC" || SOA_REG)) begin
            $display("MULT9X9: a mode that this model does not have");
            $finish;
        end
    always @(posedge CLK)
        if ((ASEL | BSEL) === 1'b1) begin
            $display("MULT9X9: an input that this model does not have");
            $finish;
        end
endmodule
`default_nettype wire
