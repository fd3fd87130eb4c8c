// Simulation model of ECP5's DP16KD, written for systoliq from Lattice TN1264 (memory usage guide, now FPGA-TN-02204).
//
// Modelled: port A writes and reads, port B reads, both of one width of 1, 2, 4, 9 or 18 bits and on one clock; the output
// registers, on or off; initial contents. A word of 18 bits is written by its two bytes, which ADA0 and ADA1 enable. What is
// read while it is written is unknown, and so is what was neither written nor given as initial contents. Not modelled, and
// stopped at: resets, chip selects, other modes. What port B writes is left out.
`default_nettype none
module DP16KD #(
    parameter DATA_WIDTH_A = 18, parameter DATA_WIDTH_B = 18, parameter REGMODE_A = "NOREG", parameter REGMODE_B = "NOREG",
    parameter RESETMODE = "SYNC", parameter ASYNC_RESET_RELEASE = "SYNC", parameter CSDECODE_A = "0b000",
    parameter CSDECODE_B = "0b000", parameter CLKAMUX = "CLKA", parameter CLKBMUX = "CLKB", parameter WRITEMODE_A = "NORMAL",
    parameter WRITEMODE_B = "NORMAL", parameter GSR = "ENABLED",
    parameter [319:0] INITVAL_00 = 320'bx, parameter [319:0] INITVAL_01 = 320'bx, parameter [319:0] INITVAL_02 = 320'bx,
    parameter [319:0] INITVAL_03 = 320'bx, parameter [319:0] INITVAL_04 = 320'bx, parameter [319:0] INITVAL_05 = 320'bx,
    parameter [319:0] INITVAL_06 = 320'bx, parameter [319:0] INITVAL_07 = 320'bx, parameter [319:0] INITVAL_08 = 320'bx,
    parameter [319:0] INITVAL_09 = 320'bx, parameter [319:0] INITVAL_0A = 320'bx, parameter [319:0] INITVAL_0B = 320'bx,
    parameter [319:0] INITVAL_0C = 320'bx, parameter [319:0] INITVAL_0D = 320'bx, parameter [319:0] INITVAL_0E = 320'bx,
    parameter [319:0] INITVAL_0F = 320'bx, parameter [319:0] INITVAL_10 = 320'bx, parameter [319:0] INITVAL_11 = 320'bx,
    parameter [319:0] INITVAL_12 = 320'bx, parameter [319:0] INITVAL_13 = 320'bx, parameter [319:0] INITVAL_14 = 320'bx,
    parameter [319:0] INITVAL_15 = 320'bx, parameter [319:0] INITVAL_16 = 320'bx, parameter [319:0] INITVAL_17 = 320'bx,
    parameter [319:0] INITVAL_18 = 320'bx, parameter [319:0] INITVAL_19 = 320'bx, parameter [319:0] INITVAL_1A = 320'bx,
    parameter [319:0] INITVAL_1B = 320'bx, parameter [319:0] INITVAL_1C = 320'bx, parameter [319:0] INITVAL_1D = 320'bx,
    parameter [319:0] INITVAL_1E = 320'bx, parameter [319:0] INITVAL_1F = 320'bx, parameter [319:0] INITVAL_20 = 320'bx,
    parameter [319:0] INITVAL_21 = 320'bx, parameter [319:0] INITVAL_22 = 320'bx, parameter [319:0] INITVAL_23 = 320'bx,
    parameter [319:0] INITVAL_24 = 320'bx, parameter [319:0] INITVAL_25 = 320'bx, parameter [319:0] INITVAL_26 = 320'bx,
    parameter [319:0] INITVAL_27 = 320'bx, parameter [319:0] INITVAL_28 = 320'bx, parameter [319:0] INITVAL_29 = 320'bx,
    parameter [319:0] INITVAL_2A = 320'bx, parameter [319:0] INITVAL_2B = 320'bx, parameter [319:0] INITVAL_2C = 320'bx,
    parameter [319:0] INITVAL_2D = 320'bx, parameter [319:0] INITVAL_2E = 320'bx, parameter [319:0] INITVAL_2F = 320'bx,
    parameter [319:0] INITVAL_30 = 320'bx, parameter [319:0] INITVAL_31 = 320'bx, parameter [319:0] INITVAL_32 = 320'bx,
    parameter [319:0] INITVAL_33 = 320'bx, parameter [319:0] INITVAL_34 = 320'bx, parameter [319:0] INITVAL_35 = 320'bx,
    parameter [319:0] INITVAL_36 = 320'bx, parameter [319:0] INITVAL_37 = 320'bx, parameter [319:0] INITVAL_38 = 320'bx,
    parameter [319:0] INITVAL_39 = 320'bx, parameter [319:0] INITVAL_3A = 320'bx, parameter [319:0] INITVAL_3B = 320'bx,
    parameter [319:0] INITVAL_3C = 320'bx, parameter [319:0] INITVAL_3D = 320'bx, parameter [319:0] INITVAL_3E = 320'bx,
    parameter [319:0] INITVAL_3F = 320'bx
) (
    input wire CLKA, CEA, OCEA, WEA, RSTA, CSA0, CSA1, CSA2,
    input wire ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11, ADA12, ADA13,
    input wire DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8, DIA9, DIA10, DIA11, DIA12, DIA13, DIA14, DIA15, DIA16,
    input wire DIA17,
    input wire CLKB, CEB, OCEB, WEB, RSTB, CSB0, CSB1, CSB2,
    input wire ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9, ADB10, ADB11, ADB12, ADB13,
    output wire DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12, DOB13, DOB14, DOB15, DOB16,
    output wire DOB17,
    output wire DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8, DOA9, DOA10, DOA11, DOA12, DOA13, DOA14, DOA15, DOA16,
    output wire DOA17
);
    localparam LOW = DATA_WIDTH_A == 18 ? 4 : DATA_WIDTH_A == 9 ? 3 : DATA_WIDTH_A == 4 ? 2 : DATA_WIDTH_A == 2 ? 1 : 0;
    wire [13:0] write_address = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
    wire [13:0] read_address = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
    wire [17:0] data = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3,
        DIA2, DIA1, DIA0};
    wire [1:0] bytes = DATA_WIDTH_A == 18 ? {ADA1, ADA0} : 2'b11;
    reg [DATA_WIDTH_A-1:0] words [0:(16384 >> LOW)-1];
    reg [17:0] word, out, a_word, a_out;
    localparam [20479:0] INITIAL = {
        INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38, INITVAL_37,
        INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E,
        INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25,
        INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C,
        INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13,
        INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A,
        INITVAL_09, INITVAL_08, INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
        INITVAL_00
    };
    localparam PER_PAIR = DATA_WIDTH_A == 18 ? 1 : DATA_WIDTH_A == 9 ? 2 : 16 / DATA_WIDTH_A;
    reg [20479:0] rest;
    reg [319:0] row;
    reg [17:0] pair;
    integer i, at, place;
    always @(posedge CLKA) begin
        if (CEA && WEA)
            for (i = 0; i < DATA_WIDTH_A; i = i + 1)
                if (bytes[i / 9]) words[write_address >> LOW][i] <= data[i];
        if (CEB)
            word <= CEA && WEA && write_address >> LOW == read_address >> LOW ? 18'bx : words[read_address >> LOW];
        if (OCEB) out <= word;
        if (CEA) a_word <= WEA ? 18'bx : words[write_address >> LOW];
        if (OCEA) a_out <= a_word;
    end
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1,
        DOB0} = REGMODE_B == "OUTREG" ? out : word;
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1,
        DOA0} = REGMODE_A == "OUTREG" ? a_out : a_word;

    initial begin
        // Bytes of 9 bits, in pairs; 16 pairs a row, each in 20 bits. Words of less than 9 bits do without a byte's last one.
        rest = INITIAL;
        for (at = 0; at < 1024 * PER_PAIR; at = at + PER_PAIR) begin
            if (at / PER_PAIR % 16 == 0) begin
                row = rest[319:0];
                rest = rest >> 320;
            end
            pair = row[17:0];
            row = row >> 20;
            if (pair !== 18'bx)
                for (place = 0; place < PER_PAIR; place = place + 1)
                    for (i = 0; i < DATA_WIDTH_A; i = i + 1)
                        words[at + place][i] = DATA_WIDTH_A > 8 ? pair[place * 9 + i] :
                            pair[place * DATA_WIDTH_A + i + (place * DATA_WIDTH_A > 7 ? 1 : 0)];
        end
        if (DATA_WIDTH_A != DATA_WIDTH_B || (DATA_WIDTH_A != 18 && DATA_WIDTH_A != 9 && DATA_WIDTH_A != 4 &&
            DATA_WIDTH_A != 2 && DATA_WIDTH_A != 1) || RESETMODE != "SYNC" || CSDECODE_A != "0b000" ||
            CSDECODE_B != "0b000" || CLKAMUX != "CLKA" || CLKBMUX != "CLKB" || WEB === 1'b1 || RSTB === 1'b1 ||
            CSA0 === 1'b1 || CSA1 === 1'b1 || CSA2 === 1'b1 || CSB0 === 1'b1 || CSB1 === 1'b1 || CSB2 === 1'b1) begin
            $display("DP16KD: a mode that this model does not have");
            $finish;
        end
    end
endmodule
`default_nettype wire
