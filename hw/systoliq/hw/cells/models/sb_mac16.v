// Simulation model of iCE40 UltraPlus' SB_MAC16, written for systoliq from Lattice FPGA-TN-02007 (DSP function usage).
//
// Modelled: the signed or unsigned 16 x 16 product with the registers of A and B and that of the product (H), each on or
// off, led out past the adders. Not modelled, and stopped at: any other mode, holds, resets, a falling clock.
`default_nettype none
module SB_MAC16 #(
    parameter NEG_TRIGGER = 1'b0, parameter C_REG = 1'b0, parameter A_REG = 1'b0, parameter B_REG = 1'b0,
    parameter D_REG = 1'b0, parameter TOP_8x8_MULT_REG = 1'b0, parameter BOT_8x8_MULT_REG = 1'b0,
    parameter PIPELINE_16x16_MULT_REG1 = 1'b0, parameter PIPELINE_16x16_MULT_REG2 = 1'b0,
    parameter [1:0] TOPOUTPUT_SELECT = 2'b00, parameter [1:0] BOTOUTPUT_SELECT = 2'b00,
    parameter MODE_8x8 = 1'b0, parameter A_SIGNED = 1'b0, parameter B_SIGNED = 1'b0
) (
    input wire CLK, CE,
    input wire [15:0] C, A, B, D,
    input wire AHOLD, BHOLD, CHOLD, DHOLD, IRSTTOP, IRSTBOT, ORSTTOP, ORSTBOT, OLOADTOP, OLOADBOT, ADDSUBTOP, ADDSUBBOT,
    input wire OHOLDTOP, OHOLDBOT, CI, ACCUMCI, SIGNEXTIN,
    output wire [31:0] O,
    output wire CO, ACCUMCO, SIGNEXTOUT
);
    reg [15:0] a, b;
    reg [31:0] h;
    wire [15:0] a_used = A_REG ? a : A;
    wire [15:0] b_used = B_REG ? b : B;
    wire signed [16:0] a_signed = {A_SIGNED && a_used[15], a_used};
    wire signed [16:0] b_signed = {B_SIGNED && b_used[15], b_used};
    wire signed [33:0] product = a_signed * b_signed;
    always @(posedge CLK)
        if (CE) begin
            a <= A;
            b <= B;
            h <= product[31:0];
        end
    assign O = PIPELINE_16x16_MULT_REG2 ? h : product[31:0];
    assign {CO, ACCUMCO, SIGNEXTOUT} = 3'b000;
    initial  // an unconnected clock: the simulator took the model, which nothing uses, for a top of its own
        if (CLK !== 1'bz && (TOPOUTPUT_SELECT != 2'b11 || BOTOUTPUT_SELECT != 2'b11 || MODE_8x8 || NEG_TRIGGER || TOP_8x8_MULT_REG ||
            BOT_8x8_MULT_REG || PIPELINE_16x16_MULT_REG1)) begin
            $display("SB_MAC16: a mode that this model does not have");
            $finish;
        end
endmodule
`default_nettype wire
