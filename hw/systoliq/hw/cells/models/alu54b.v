// Simulation model of ECP5's ALU54B, written for systoliq from the facts that `systoliq.hw.cells.ecp5_alu` names.
//
// Modelled: R = AMUX + BMUX + CMUX with MA or 0, MB or 0, and R or 0; the output registers, always on; either, both or none
// of the two registers of the multiplexers' selection, all on CLK0, with CE0 and the synchronous reset RST0. R comes back
// as its lower 52 bits, sign-extended. Not modelled, and stopped at: every other selection and operation, registers of the
// operation, other clocks, enables and resets, asynchronous reset, 9-bit mode. Operands that no selection modelled here
// reads are left out (C, CFB, CIN) or not read (A, B, which must be wired up all the same).
`default_nettype none
module ALU54B #(
    parameter REG_INPUTC0_CLK = "NONE", parameter REG_INPUTC0_CE = "CE0", parameter REG_INPUTC0_RST = "RST0",
    parameter REG_INPUTC1_CLK = "NONE", parameter REG_INPUTC1_CE = "CE0", parameter REG_INPUTC1_RST = "RST0",
    parameter REG_INPUTCFB_CLK = "NONE", parameter REG_INPUTCFB_CE = "CE0", parameter REG_INPUTCFB_RST = "RST0",
    parameter REG_OPCODEOP0_0_CLK = "NONE", parameter REG_OPCODEOP0_0_CE = "CE0", parameter REG_OPCODEOP0_0_RST = "RST0",
    parameter REG_OPCODEOP0_1_CLK = "NONE", parameter REG_OPCODEOP0_1_CE = "CE0", parameter REG_OPCODEOP0_1_RST = "RST0",
    parameter REG_OPCODEOP1_0_CLK = "NONE", parameter REG_OPCODEOP1_1_CLK = "NONE",
    parameter REG_OPCODEIN_0_CLK = "NONE", parameter REG_OPCODEIN_0_CE = "CE0", parameter REG_OPCODEIN_0_RST = "RST0",
    parameter REG_OPCODEIN_1_CLK = "NONE", parameter REG_OPCODEIN_1_CE = "CE0", parameter REG_OPCODEIN_1_RST = "RST0",
    parameter REG_OUTPUT0_CLK = "NONE", parameter REG_OUTPUT0_CE = "CE0", parameter REG_OUTPUT0_RST = "RST0",
    parameter REG_OUTPUT1_CLK = "NONE", parameter REG_OUTPUT1_CE = "CE0", parameter REG_OUTPUT1_RST = "RST0",
    parameter REG_FLAG_CLK = "NONE", parameter REG_FLAG_CE = "CE0", parameter REG_FLAG_RST = "RST0",
    parameter CLK0_DIV = "ENABLED", parameter CLK1_DIV = "ENABLED", parameter CLK2_DIV = "ENABLED",
    parameter CLK3_DIV = "ENABLED", parameter MCPAT_SOURCE = "STATIC", parameter MASKPAT_SOURCE = "STATIC",
    parameter MASK01 = "0x00000000000000", parameter MCPAT = "0x00000000000000", parameter MASKPAT = "0x00000000000000",
    parameter RNDPAT = "0x00000000000000", parameter GSR = "ENABLED", parameter RESETMODE = "SYNC",
    parameter MULT9_MODE = "DISABLED", parameter FORCE_ZERO_BARREL_SHIFT = "DISABLED", parameter LEGACY = "DISABLED"
) (
    input wire CLK0, CLK1, CLK2, CLK3, CE0, CE1, CE2, CE3, RST0, RST1, RST2, RST3, SIGNEDIA, SIGNEDIB, SIGNEDCIN,
    input wire A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17,
    input wire A18, A19, A20, A21, A22, A23, A24, A25, A26, A27, A28, A29, A30, A31, A32, A33, A34, A35,
    input wire B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17,
    input wire B18, B19, B20, B21, B22, B23, B24, B25, B26, B27, B28, B29, B30, B31, B32, B33, B34, B35,
    input wire MA0, MA1, MA2, MA3, MA4, MA5, MA6, MA7, MA8, MA9, MA10, MA11, MA12, MA13, MA14, MA15, MA16, MA17,
    input wire MA18, MA19, MA20, MA21, MA22, MA23, MA24, MA25, MA26, MA27, MA28, MA29, MA30, MA31, MA32, MA33, MA34, MA35,
    input wire MB0, MB1, MB2, MB3, MB4, MB5, MB6, MB7, MB8, MB9, MB10, MB11, MB12, MB13, MB14, MB15, MB16, MB17,
    input wire MB18, MB19, MB20, MB21, MB22, MB23, MB24, MB25, MB26, MB27, MB28, MB29, MB30, MB31, MB32, MB33, MB34, MB35,
    input wire OP0, OP1, OP2, OP3, OP4, OP5, OP6, OP7, OP8, OP9, OP10,
    output wire R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17,
    output wire R18, R19, R20, R21, R22, R23, R24, R25, R26, R27, R28, R29, R30, R31, R32, R33, R34, R35,
    output wire R36, R37, R38, R39, R40, R41, R42, R43, R44, R45, R46, R47, R48, R49, R50, R51, R52, R53
);
    wire [35:0] ma = {MA35, MA34, MA33, MA32, MA31, MA30, MA29, MA28, MA27, MA26, MA25, MA24, MA23, MA22, MA21, MA20, MA19,
        MA18, MA17, MA16, MA15, MA14, MA13, MA12, MA11, MA10, MA9, MA8, MA7, MA6, MA5, MA4, MA3, MA2, MA1, MA0};
    wire [35:0] mb = {MB35, MB34, MB33, MB32, MB31, MB30, MB29, MB28, MB27, MB26, MB25, MB24, MB23, MB22, MB21, MB20, MB19,
        MB18, MB17, MB16, MB15, MB14, MB13, MB12, MB11, MB10, MB9, MB8, MB7, MB6, MB5, MB4, MB3, MB2, MB1, MB0};
    wire [6:0] selection = {OP6, OP5, OP4, OP3, OP2, OP1, OP0};
    wire [3:0] operation = {OP10, OP9, OP8, OP7};
    reg [6:0] selection_0, selection_1;
    reg [53:0] r;
    wire [6:0] first = REG_OPCODEIN_0_CLK == "NONE" ? selection : selection_0;
    wire [6:0] selected = REG_OPCODEIN_1_CLK == "NONE" ? first : selection_1;
    // What a selection that is not known adds is not known either.
    wire [53:0] first_product = {{18{SIGNEDIA & ma[35]}}, ma};
    wire [53:0] second_product = {{18{SIGNEDIB & mb[35]}}, mb};
    wire [53:0] a_mux = selected[1:0] === 2'b01 ? first_product : selected[1:0] === 2'b11 ? 54'b0 : {54{1'bx}};
    wire [53:0] b_mux = selected[3:2] === 2'b01 ? second_product : selected[3:2] === 2'b11 ? 54'b0 : {54{1'bx}};
    wire [53:0] c_mux = selected[6:4] === 3'b101 ? {{2{r[51]}}, r[51:0]} : selected[6:4] === 3'b000 ? 54'b0 : {54{1'bx}};
    wire [53:0] sum = a_mux + b_mux + c_mux;
    wire known = ^{selected, operation} !== 1'bx;
    wire modelled = operation == 4'b0100 && selected[0] && selected[2] &&
        (selected[6:4] == 3'b000 || selected[6:4] == 3'b101);
    // What the registers of a selection hold before their first clock edges is nobody's wish.
    reg [1:0] edges = 0;
    always @(posedge CLK0) begin
        if (edges != 2) edges <= edges + 1;
        if (edges == 2 && known && !modelled) begin
            $display("ALU54B: a selection or an operation that this model does not have");
            $finish;
        end
        if (RST0) begin
            selection_0 <= 0;
            selection_1 <= 0;
            r <= 0;
        end else if (CE0) begin
            selection_0 <= selection;
            selection_1 <= first;
            r <= sum;
        end
    end
    assign {R53, R52, R51, R50, R49, R48, R47, R46, R45, R44, R43, R42, R41, R40, R39, R38, R37, R36, R35, R34, R33, R32, R31,
        R30, R29, R28, R27, R26, R25, R24, R23, R22, R21, R20, R19, R18, R17, R16, R15, R14, R13, R12, R11, R10, R9, R8, R7,
        R6, R5, R4, R3, R2, R1, R0} = r;

    initial begin  // an unconnected clock: the simulator took the model, which nothing uses, for a top of its own
        if (CLK0 !== 1'bz && (REG_OUTPUT0_CLK != "CLK0" || REG_OUTPUT1_CLK != "CLK0" ||
            (REG_OPCODEIN_0_CLK != "NONE" && REG_OPCODEIN_0_CLK != "CLK0") ||
            (REG_OPCODEIN_1_CLK != "NONE" && REG_OPCODEIN_1_CLK != "CLK0") || REG_OPCODEOP0_0_CLK != "NONE" ||
            REG_OPCODEOP0_1_CLK != "NONE" || REG_OPCODEOP1_0_CLK != "NONE" || REG_OPCODEOP1_1_CLK != "NONE" ||
            RESETMODE != "SYNC" || MULT9_MODE != "DISABLED" || LEGACY != "DISABLED")) begin
            $display("ALU54B: a mode that this model does not have");
            $finish;
        end
    end
endmodule
`default_nettype wire
