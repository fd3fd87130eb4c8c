// Simulation model of UltraScale's DSP48E2, written for systoliq from AMD UG579 (UltraScale Architecture DSP Slice) and
// the port and attribute lists of UG974 (libraries guide).
//
// Modelled: P = (A or A + D) * B + W + Z + carry in, with W = 0, P, RND or C and Z = 0, P, C, PCIN, or P or PCIN shifted
// right by 17 bits, the product also left out (UG579: OPMODE); the registers of A and B (0, 1 or 2), C, D, AD, M, P,
// OPMODE and the carry, with their enables and synchronous resets; A, B and P cascades. Not modelled, and stopped at:
// every other OPMODE, ALUMODE, INMODE and CARRYINSEL, their registers but OPMODE's, the pre-adder of B, SIMD, inverted
// pins but OPMODE, and the outputs of carry, pattern detector and wide XOR.
`default_nettype none
module DSP48E2 #(
    parameter ACASCREG = 1, parameter ADREG = 1, parameter ALUMODEREG = 1, parameter AMULTSEL = "A", parameter AREG = 1,
    parameter AUTORESET_PATDET = "NO_RESET", parameter AUTORESET_PRIORITY = "RESET", parameter A_INPUT = "DIRECT",
    parameter BCASCREG = 1, parameter BMULTSEL = "B", parameter BREG = 1, parameter B_INPUT = "DIRECT",
    parameter CARRYINREG = 1, parameter CARRYINSELREG = 1, parameter CREG = 1, parameter DREG = 1,
    parameter INMODEREG = 1, parameter [3:0] IS_ALUMODE_INVERTED = 4'b0000, parameter IS_CARRYIN_INVERTED = 1'b0,
    parameter IS_CLK_INVERTED = 1'b0, parameter [4:0] IS_INMODE_INVERTED = 5'b00000,
    parameter [8:0] IS_OPMODE_INVERTED = 9'b000000000, parameter IS_RSTALLCARRYIN_INVERTED = 1'b0,
    parameter IS_RSTALUMODE_INVERTED = 1'b0, parameter IS_RSTA_INVERTED = 1'b0, parameter IS_RSTB_INVERTED = 1'b0,
    parameter IS_RSTCTRL_INVERTED = 1'b0, parameter IS_RSTC_INVERTED = 1'b0, parameter IS_RSTD_INVERTED = 1'b0,
    parameter IS_RSTINMODE_INVERTED = 1'b0, parameter IS_RSTM_INVERTED = 1'b0, parameter IS_RSTP_INVERTED = 1'b0,
    parameter [47:0] MASK = 48'h3FFFFFFFFFFF, parameter MREG = 1, parameter OPMODEREG = 1,
    parameter [47:0] PATTERN = 48'h000000000000, parameter PREADDINSEL = "A", parameter PREG = 1,
    parameter [47:0] RND = 48'h000000000000, parameter SEL_MASK = "MASK", parameter SEL_PATTERN = "PATTERN",
    parameter USE_MULT = "MULTIPLY", parameter USE_PATTERN_DETECT = "NO_PATDET", parameter USE_SIMD = "ONE48",
    parameter USE_WIDEXOR = "FALSE", parameter XORSIMD = "XOR24_48_96"
) (
    input wire [29:0] A, ACIN,
    input wire [17:0] B, BCIN,
    input wire [47:0] C, PCIN,
    input wire [26:0] D,
    input wire [3:0] ALUMODE,
    input wire [4:0] INMODE,
    input wire [8:0] OPMODE,
    input wire [2:0] CARRYINSEL,
    input wire CARRYCASCIN, CARRYIN, MULTSIGNIN, CLK,
    input wire CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM, CEP,
    input wire RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP,
    output wire [29:0] ACOUT,
    output wire [17:0] BCOUT,
    output wire [47:0] P, PCOUT,
    output wire [7:0] XOROUT,
    output wire [3:0] CARRYOUT,
    output wire CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, PATTERNBDETECT, PATTERNDETECT, UNDERFLOW
);
    reg [29:0] a1, a2;
    reg [17:0] b1, b2;
    reg [47:0] c_register, p;
    reg [26:0] d_register, ad_register;
    reg [44:0] m_register;
    reg [8:0] opmode_register;
    reg carry_register;

    wire [29:0] a_in = A_INPUT == "CASCADE" ? ACIN : A;
    wire [17:0] b_in = B_INPUT == "CASCADE" ? BCIN : B;
    wire [29:0] a = AREG == 0 ? a_in : a2;
    wire [17:0] b = BREG == 0 ? b_in : b2;
    wire [47:0] c = CREG == 0 ? C : c_register;
    wire [26:0] d = DREG == 0 ? D : d_register;
    wire [8:0] opmode = (OPMODEREG == 0 ? OPMODE : opmode_register) ^ IS_OPMODE_INVERTED;
    wire carry = CARRYINREG == 0 ? CARRYIN : carry_register;

    // The pre-adder, UG579 table INMODE: D takes part where INMODE[2] is 1.
    wire [26:0] ad_sum = a[26:0] + (INMODE[2] ? d : 27'd0);
    wire [26:0] ad = ADREG == 0 ? ad_sum : ad_register;
    wire signed [26:0] multiplicand = AMULTSEL == "AD" ? ad : a[26:0];
    wire signed [17:0] multiplier = b;
    wire signed [44:0] product = multiplicand * multiplier;
    wire [44:0] m = MREG == 0 ? product : m_register;

    wire [47:0] w = opmode[8] ? (opmode[7] ? c : RND) : (opmode[7] ? p : 48'd0);
    wire [47:0] z_whole = opmode[5] ? (opmode[4] ? c : p) : (opmode[4] ? PCIN : 48'd0);
    wire [47:0] z_source = opmode[4] ? PCIN : p;
    wire [47:0] z = opmode[6] ? {{17{z_source[47]}}, z_source[47:17]} : z_whole;
    wire [47:0] xy = opmode[3:0] == 4'b0000 ? 48'd0 : {{3{m[44]}}, m};
    wire [47:0] sum = w + z + xy + {47'd0, carry};

    always @(posedge CLK) begin
        if (RSTA) begin
            a1 <= 0;
            a2 <= 0;
        end else begin
            if (CEA1) a1 <= a_in;
            if (CEA2) a2 <= AREG == 2 ? a1 : a_in;
        end
        if (RSTB) begin
            b1 <= 0;
            b2 <= 0;
        end else begin
            if (CEB1) b1 <= b_in;
            if (CEB2) b2 <= BREG == 2 ? b1 : b_in;
        end
        if (RSTC) c_register <= 0;
        else if (CEC) c_register <= C;
        if (RSTD) d_register <= 0;
        else if (CED) d_register <= D;
        if (RSTD) ad_register <= 0;
        else if (CEAD) ad_register <= ad_sum;
        if (RSTM) m_register <= 0;
        else if (CEM) m_register <= product;
        if (RSTP) p <= 0;
        else if (CEP) p <= sum;
        if (RSTCTRL) opmode_register <= 0;
        else if (CECTRL) opmode_register <= OPMODE;
        if (RSTALLCARRYIN) carry_register <= 0;
        else if (CECARRYIN) carry_register <= CARRYIN;
    end

    assign P = PREG == 0 ? sum : p;
    assign PCOUT = P;
    assign ACOUT = AREG == 2 && ACASCREG == 1 ? a1 : a;
    assign BCOUT = BREG == 2 && BCASCREG == 1 ? b1 : b;
    assign {XOROUT, CARRYOUT, CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, PATTERNBDETECT, PATTERNDETECT, UNDERFLOW} = 18'd0;

    wire unknown = ^{opmode, INMODE, ALUMODE, CARRYINSEL} === 1'bx;  // before the first clear
    wire feeds_back = opmode[8:7] == 2'b01 || opmode[6:4] == 3'b010 || opmode[6:4] == 3'b110;
    wire right = (opmode[3:0] == 4'b0101 || opmode[3:0] == 4'b0000) && opmode[6:4] != 3'b100 && opmode[6:4] != 3'b111 &&
        !(feeds_back && PREG == 0) && (INMODE == 5'b00000 || INMODE == 5'b00100) && ALUMODE == 4'b0000 && CARRYINSEL == 3'b000;
    reg clocked = 1'b0;  // where no bit is unknown, registers hold anything until then
    always @(posedge CLK) clocked <= 1'b1;
    always @(negedge CLK)
        if (clocked && !unknown && !right) begin
            $display("DSP48E2: a mode that this model does not have");
            $finish;
        end
    initial  // an unconnected clock: no register, or the simulator took the model, which nothing uses, for a top of its own
        if (CLK !== 1'bz && (INMODEREG != 0 || ALUMODEREG != 0 || CARRYINSELREG != 0 || BMULTSEL != "B" || PREADDINSEL != "A" ||
            USE_MULT != "MULTIPLY" || USE_SIMD != "ONE48" || USE_PATTERN_DETECT != "NO_PATDET" || USE_WIDEXOR != "FALSE" ||
            IS_CLK_INVERTED || IS_CARRYIN_INVERTED || IS_ALUMODE_INVERTED != 0 || IS_INMODE_INVERTED != 0 ||
            IS_RSTALLCARRYIN_INVERTED || IS_RSTALUMODE_INVERTED || IS_RSTA_INVERTED || IS_RSTB_INVERTED || IS_RSTCTRL_INVERTED ||
            IS_RSTC_INVERTED || IS_RSTD_INVERTED || IS_RSTINMODE_INVERTED || IS_RSTM_INVERTED || IS_RSTP_INVERTED)) begin
            $display("DSP48E2: a mode that this model does not have");
            $finish;
        end
endmodule
`default_nettype wire
