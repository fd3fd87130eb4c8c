// Simulation model of iCE40 UltraPlus' SB_MAC16, written for systoliq from Lattice FPGA-TN-02007 (DSP function usage).
//
// Modelled, with the registers of A and B on or off, each operand signed or unsigned:
//   the 16 x 16 product, its register (H) on or off, led out past the adders;
//   the two 8 x 8 products of the operands' upper and lower halves, their registers (F, G) on or off, led out likewise;
//   the 16 x 16 product, its register on or off, plus {C, D}: both adders, the carry of the lower one led to the upper,
//   and the sum led out of its register (Q and S).
// Not modelled, and stopped at: any other mode, registers of C and D, holds, loads, resets, subtraction, carries from
// outside, a falling clock. The carries and the sign led out are 0.
`default_nettype none
module SB_MAC16 #(
    parameter NEG_TRIGGER = 1'b0, parameter C_REG = 1'b0, parameter A_REG = 1'b0, parameter B_REG = 1'b0,
    parameter D_REG = 1'b0, parameter TOP_8x8_MULT_REG = 1'b0, parameter BOT_8x8_MULT_REG = 1'b0,
    parameter PIPELINE_16x16_MULT_REG1 = 1'b0, parameter PIPELINE_16x16_MULT_REG2 = 1'b0,
    parameter [1:0] TOPOUTPUT_SELECT = 2'b00, parameter [1:0] TOPADDSUB_LOWERINPUT = 2'b00,
    parameter TOPADDSUB_UPPERINPUT = 1'b0, parameter [1:0] TOPADDSUB_CARRYSELECT = 2'b00,
    parameter [1:0] BOTOUTPUT_SELECT = 2'b00, parameter [1:0] BOTADDSUB_LOWERINPUT = 2'b00,
    parameter BOTADDSUB_UPPERINPUT = 1'b0, parameter [1:0] BOTADDSUB_CARRYSELECT = 2'b00,
    parameter MODE_8x8 = 1'b0, parameter A_SIGNED = 1'b0, parameter B_SIGNED = 1'b0
) (
    input wire CLK, CE,
    input wire [15:0] C, A, B, D,
    input wire AHOLD, BHOLD, CHOLD, DHOLD, IRSTTOP, IRSTBOT, ORSTTOP, ORSTBOT, OLOADTOP, OLOADBOT, ADDSUBTOP, ADDSUBBOT,
    input wire OHOLDTOP, OHOLDBOT, CI, ACCUMCI, SIGNEXTIN,
    output wire [31:0] O,
    output wire CO, ACCUMCO, SIGNEXTOUT
);
    localparam ADDS_NOTHING = TOPADDSUB_LOWERINPUT == 0 && TOPADDSUB_UPPERINPUT == 0 && TOPADDSUB_CARRYSELECT == 0 &&
        BOTADDSUB_LOWERINPUT == 0 && BOTADDSUB_UPPERINPUT == 0 && BOTADDSUB_CARRYSELECT == 0;
    localparam ADDS_C_AND_D = TOPADDSUB_LOWERINPUT == 2 && TOPADDSUB_UPPERINPUT == 1 && TOPADDSUB_CARRYSELECT == 2 &&
        BOTADDSUB_LOWERINPUT == 2 && BOTADDSUB_UPPERINPUT == 1 && BOTADDSUB_CARRYSELECT == 0;
    localparam WHOLE = !MODE_8x8 && !TOP_8x8_MULT_REG && !BOT_8x8_MULT_REG && !PIPELINE_16x16_MULT_REG1;
    localparam IS_PRODUCT = TOPOUTPUT_SELECT == 3 && BOTOUTPUT_SELECT == 3 && WHOLE && ADDS_NOTHING;
    localparam IS_PAIR = TOPOUTPUT_SELECT == 2 && BOTOUTPUT_SELECT == 2 && MODE_8x8 && !PIPELINE_16x16_MULT_REG2 &&
        ADDS_NOTHING;
    localparam IS_SUM = TOPOUTPUT_SELECT == 1 && BOTOUTPUT_SELECT == 1 && WHOLE && ADDS_C_AND_D;
    reg [15:0] a, b, f, g;
    reg [31:0] h, q;
    wire [15:0] a_used = A_REG ? a : A;
    wire [15:0] b_used = B_REG ? b : B;
    wire signed [16:0] a_whole = {A_SIGNED && a_used[15], a_used};
    wire signed [16:0] b_whole = {B_SIGNED && b_used[15], b_used};
    wire signed [8:0] a_upper = a_whole[16:8];
    wire signed [8:0] b_upper = b_whole[16:8];
    wire signed [8:0] a_lower = {A_SIGNED && a_used[7], a_used[7:0]};
    wire signed [8:0] b_lower = {B_SIGNED && b_used[7], b_used[7:0]};
    wire signed [33:0] product = a_whole * b_whole;
    wire signed [17:0] upper = a_upper * b_upper;
    wire signed [17:0] lower = a_lower * b_lower;
    wire [31:0] h_used = PIPELINE_16x16_MULT_REG2 ? h : product[31:0];
    always @(posedge CLK)
        if (CE) begin
            a <= A;
            b <= B;
            f <= upper[15:0];
            g <= lower[15:0];
            h <= product[31:0];
            q <= {C, D} + h_used;
        end
    assign O = IS_PAIR ? {TOP_8x8_MULT_REG ? f : upper[15:0], BOT_8x8_MULT_REG ? g : lower[15:0]} : IS_SUM ? q : h_used;
    assign {CO, ACCUMCO, SIGNEXTOUT} = 3'b000;
    initial  // an unconnected clock: the simulator took the model, which nothing uses, for a top of its own
        if (CLK !== 1'bz && ((!IS_PRODUCT && !IS_PAIR && !IS_SUM) || C_REG || D_REG || NEG_TRIGGER)) begin
            $display("SB_MAC16: a mode that this model does not have");
            $finish;
        end
    always @(posedge CLK)
        if (|{AHOLD, BHOLD, CHOLD, DHOLD, IRSTTOP, IRSTBOT, ORSTTOP, ORSTBOT, OLOADTOP, OLOADBOT, ADDSUBTOP, ADDSUBBOT,
            OHOLDTOP, OHOLDBOT, CI, ACCUMCI, SIGNEXTIN} === 1'b1) begin
            $display("SB_MAC16: an input that this model does not have");
            $finish;
        end
endmodule
`default_nettype wire
