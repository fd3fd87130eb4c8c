// Simulation model of Lattice Nexus' MULTADDSUB9X9WIDE, written for systoliq from Lattice FPGA-TN-02096 (sysDSP user
// guide for Nexus).
//
// Modelled: Z = A0 * B0 + A1 * B1 + A2 * B2 + A3 * B3 of signed operands, plus C where LOADC is 1, Z where it is 0; all
// registers on: of the operands, of C and of LOADC two, of the products, of Z. Not modelled, and stopped at: registers
// that are left out, unsigned operands, subtraction, enables that are off, resets.
`default_nettype none
module MULTADDSUB9X9WIDE #(
    parameter REGINPUTAB0 = "REGISTER", parameter REGINPUTAB1 = "REGISTER", parameter REGINPUTAB2 = "REGISTER",
    parameter REGINPUTAB3 = "REGISTER", parameter REGINPUTC = "REGISTER", parameter REGADDSUB = "REGISTER",
    parameter REGLOADC = "REGISTER", parameter REGLOADC2 = "REGISTER", parameter REGPIPELINE = "REGISTER",
    parameter REGOUTPUT = "REGISTER", parameter GSR = "ENABLED", parameter RESETMODE = "SYNC"
) (
    input wire [8:0] A0, B0, A1, B1, A2, B2, A3, B3,
    input wire [53:0] C,
    input wire CLK, CEA0A1, CEA2A3, CEB0B1, CEB2B3, CEC, CECTRL, CEPIPE, CEOUT,
    input wire RSTA0A1, RSTA2A3, RSTB0B1, RSTB2B3, RSTC, RSTCTRL, RSTPIPE, RSTOUT,
    input wire SIGNED, LOADC,
    input wire [3:0] ADDSUB,
    output wire [53:0] Z
);
    reg signed [8:0] a0, b0, a1, b1, a2, b2, a3, b3;
    reg signed [17:0] p0, p1, p2, p3;
    reg [53:0] c, c_again, z;
    reg load, load_again;
    wire signed [53:0] s0 = p0;
    wire signed [53:0] s1 = p1;
    wire signed [53:0] s2 = p2;
    wire signed [53:0] s3 = p3;
    always @(posedge CLK) begin
        a0 <= A0;
        b0 <= B0;
        a1 <= A1;
        b1 <= B1;
        a2 <= A2;
        b2 <= B2;
        a3 <= A3;
        b3 <= B3;
        p0 <= a0 * b0;
        p1 <= a1 * b1;
        p2 <= a2 * b2;
        p3 <= a3 * b3;
        c <= C;
        c_again <= c;
        load <= LOADC;
        load_again <= load;
        z <= (load_again ? c_again : z) + s0 + s1 + s2 + s3;
    end
    assign Z = z;

    localparam WHOLE = REGINPUTAB0 == "REGISTER" && REGINPUTAB1 == "REGISTER" && REGINPUTAB2 == "REGISTER" &&
        REGINPUTAB3 == "REGISTER" && REGINPUTC == "REGISTER" && REGADDSUB == "REGISTER" && REGLOADC == "REGISTER" &&
        REGLOADC2 == "REGISTER" && REGPIPELINE == "REGISTER" && REGOUTPUT == "REGISTER" && GSR == "DISABLED";
    initial  // an unconnected clock: the simulator took the model, which nothing uses, for a top of its own
        if (CLK !== 1'bz && !WHOLE) begin
            $display("MULTADDSUB9X9WIDE: a mode that this model does not have");
            $finish;
        end
    always @(posedge CLK)
        if ((|{RSTA0A1, RSTA2A3, RSTB0B1, RSTB2B3, RSTC, RSTCTRL, RSTPIPE, RSTOUT, ADDSUB}) === 1'b1 ||
            (&{CEA0A1, CEA2A3, CEB0B1, CEB2B3, CEC, CECTRL, CEPIPE, CEOUT, SIGNED}) === 1'b0) begin
            $display("MULTADDSUB9X9WIDE: an input that this model does not have");
            $finish;
        end
endmodule
`default_nettype wire
