// Simulation model of ECP5's MULT18X18D, written for systoliq from Lattice TN1267 (sysDSP usage guide).
//
// Modelled: signed and unsigned operands from A and B; the input, pipeline and output registers, each on or off, on CLK0,
// with CE0 and the synchronous reset RST0. Not modelled, and stopped at: other clocks, enables and resets, the C operand,
// shift chains, asynchronous reset. ROA and ROB, the operands' way to an ALU54B, are unknown: nothing reads them.
`default_nettype none
module MULT18X18D #(
    parameter REG_INPUTA_CLK = "NONE", parameter REG_INPUTA_CE = "CE0", parameter REG_INPUTA_RST = "RST0",
    parameter REG_INPUTB_CLK = "NONE", parameter REG_INPUTB_CE = "CE0", parameter REG_INPUTB_RST = "RST0",
    parameter REG_INPUTC_CLK = "NONE", parameter REG_INPUTC_CE = "CE0", parameter REG_INPUTC_RST = "RST0",
    parameter REG_PIPELINE_CLK = "NONE", parameter REG_PIPELINE_CE = "CE0", parameter REG_PIPELINE_RST = "RST0",
    parameter REG_OUTPUT_CLK = "NONE", parameter REG_OUTPUT_CE = "CE0", parameter REG_OUTPUT_RST = "RST0",
    parameter CLK0_DIV = "ENABLED", parameter CLK1_DIV = "ENABLED", parameter CLK2_DIV = "ENABLED",
    parameter CLK3_DIV = "ENABLED", parameter HIGHSPEED_CLK = "NONE", parameter GSR = "ENABLED",
    parameter CAS_MATCH_REG = "FALSE", parameter SOURCEB_MODE = "B_SHIFT", parameter MULT_BYPASS = "DISABLED",
    parameter RESETMODE = "SYNC"
) (
    input wire A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11,
    input wire A12, A13, A14, A15, A16, A17,
    input wire B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11,
    input wire B12, B13, B14, B15, B16, B17,
    input wire C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11,
    input wire C12, C13, C14, C15, C16, C17,
    input wire SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    input wire CLK0, CLK1, CLK2, CLK3, CE0, CE1, CE2, CE3, RST0, RST1, RST2, RST3,
    output wire ROA0, ROA1, ROA2, ROA3, ROA4, ROA5, ROA6, ROA7, ROA8, ROA9, ROA10, ROA11,
    output wire ROA12, ROA13, ROA14, ROA15, ROA16, ROA17,
    output wire ROB0, ROB1, ROB2, ROB3, ROB4, ROB5, ROB6, ROB7, ROB8, ROB9, ROB10, ROB11,
    output wire ROB12, ROB13, ROB14, ROB15, ROB16, ROB17,
    output wire P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11,
    output wire P12, P13, P14, P15, P16, P17, P18, P19, P20, P21, P22, P23,
    output wire P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35,
    output wire SIGNEDP
);
    wire [17:0] a = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
    wire [17:0] b = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
    // A nineteenth bit makes both kinds of operand signed; a register takes it along, as the cell does its sign flag.
    wire [18:0] a_in = {SIGNEDA & a[17], a};
    wire [18:0] b_in = {SIGNEDB & b[17], b};
    reg [18:0] a_register, b_register;
    reg [35:0] pipeline, out;
    always @(posedge CLK0)
        if (RST0) begin
            a_register <= 0;
            b_register <= 0;
            pipeline <= 0;
            out <= 0;
        end else if (CE0) begin
            a_register <= a_in;
            b_register <= b_in;
            pipeline <= product;
            out <= piped;
        end
    wire signed [18:0] a_used = REG_INPUTA_CLK == "NONE" ? a_in : a_register;
    wire signed [18:0] b_used = REG_INPUTB_CLK == "NONE" ? b_in : b_register;
    wire signed [37:0] full = a_used * b_used;
    wire [35:0] product = full[35:0];
    wire [35:0] piped = REG_PIPELINE_CLK == "NONE" ? product : pipeline;
    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13,
        P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} =
        REG_OUTPUT_CLK == "NONE" ? piped : out;
    assign {ROA17, ROA16, ROA15, ROA14, ROA13, ROA12, ROA11, ROA10, ROA9, ROA8, ROA7, ROA6, ROA5, ROA4,
        ROA3, ROA2, ROA1, ROA0} = {18{1'bx}};
    assign {ROB17, ROB16, ROB15, ROB14, ROB13, ROB12, ROB11, ROB10, ROB9, ROB8, ROB7, ROB6, ROB5, ROB4,
        ROB3, ROB2, ROB1, ROB0} = {18{1'bx}};
    assign SIGNEDP = SIGNEDA | SIGNEDB;

    initial begin
        if ((REG_INPUTA_CLK != "NONE" && REG_INPUTA_CLK != "CLK0") || (REG_INPUTB_CLK != "NONE" && REG_INPUTB_CLK != "CLK0") ||
            (REG_PIPELINE_CLK != "NONE" && REG_PIPELINE_CLK != "CLK0") ||
            (REG_OUTPUT_CLK != "NONE" && REG_OUTPUT_CLK != "CLK0") || RESETMODE != "SYNC" || MULT_BYPASS != "DISABLED" ||
            SOURCEA === 1'b1 || SOURCEB === 1'b1) begin
            $display("MULT18X18D: a mode that this model does not have");
            $finish;
        end
    end
endmodule
`default_nettype wire
