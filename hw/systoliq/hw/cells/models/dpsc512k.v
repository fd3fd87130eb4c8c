// Simulation model of Nexus' DPSC512K, a large memory (LRAM), written for systoliq from Lattice FPGA-TN-02094 (memory
// usage guide) and the way in which Yosys 0.70 wires the cell up.
//
// Modelled: two ports on one clock that each write or read words of 32 bits, with enables of bytes; initial contents;
// the synchronous reset of the word that was read. A port that writes keeps the word that it shows; what the other port
// reads meanwhile is the word before. Not modelled, and stopped at: other resets, output registers, chip selects, ECC.
`default_nettype none
module DPSC512K #(
    parameter OUTREG_A = "NO_REG", parameter OUTREG_B = "NO_REG", parameter GSR = "ENABLED",
    parameter RESETMODE = "SYNC", parameter ASYNC_RESET_RELEASE = "SYNC", parameter ECC_BYTE_SEL = "ECC_EN",
    parameter [10255:0] INITVAL_00 = 0, parameter [10255:0] INITVAL_01 = 0,
    parameter [10255:0] INITVAL_02 = 0, parameter [10255:0] INITVAL_03 = 0,
    parameter [10255:0] INITVAL_04 = 0, parameter [10255:0] INITVAL_05 = 0,
    parameter [10255:0] INITVAL_06 = 0, parameter [10255:0] INITVAL_07 = 0,
    parameter [10255:0] INITVAL_08 = 0, parameter [10255:0] INITVAL_09 = 0,
    parameter [10255:0] INITVAL_0A = 0, parameter [10255:0] INITVAL_0B = 0,
    parameter [10255:0] INITVAL_0C = 0, parameter [10255:0] INITVAL_0D = 0,
    parameter [10255:0] INITVAL_0E = 0, parameter [10255:0] INITVAL_0F = 0,
    parameter [10255:0] INITVAL_10 = 0, parameter [10255:0] INITVAL_11 = 0,
    parameter [10255:0] INITVAL_12 = 0, parameter [10255:0] INITVAL_13 = 0,
    parameter [10255:0] INITVAL_14 = 0, parameter [10255:0] INITVAL_15 = 0,
    parameter [10255:0] INITVAL_16 = 0, parameter [10255:0] INITVAL_17 = 0,
    parameter [10255:0] INITVAL_18 = 0, parameter [10255:0] INITVAL_19 = 0,
    parameter [10255:0] INITVAL_1A = 0, parameter [10255:0] INITVAL_1B = 0,
    parameter [10255:0] INITVAL_1C = 0, parameter [10255:0] INITVAL_1D = 0,
    parameter [10255:0] INITVAL_1E = 0, parameter [10255:0] INITVAL_1F = 0,
    parameter [10255:0] INITVAL_20 = 0, parameter [10255:0] INITVAL_21 = 0,
    parameter [10255:0] INITVAL_22 = 0, parameter [10255:0] INITVAL_23 = 0,
    parameter [10255:0] INITVAL_24 = 0, parameter [10255:0] INITVAL_25 = 0,
    parameter [10255:0] INITVAL_26 = 0, parameter [10255:0] INITVAL_27 = 0,
    parameter [10255:0] INITVAL_28 = 0, parameter [10255:0] INITVAL_29 = 0,
    parameter [10255:0] INITVAL_2A = 0, parameter [10255:0] INITVAL_2B = 0,
    parameter [10255:0] INITVAL_2C = 0, parameter [10255:0] INITVAL_2D = 0,
    parameter [10255:0] INITVAL_2E = 0, parameter [10255:0] INITVAL_2F = 0,
    parameter [10255:0] INITVAL_30 = 0, parameter [10255:0] INITVAL_31 = 0,
    parameter [10255:0] INITVAL_32 = 0, parameter [10255:0] INITVAL_33 = 0,
    parameter [10255:0] INITVAL_34 = 0, parameter [10255:0] INITVAL_35 = 0,
    parameter [10255:0] INITVAL_36 = 0, parameter [10255:0] INITVAL_37 = 0,
    parameter [10255:0] INITVAL_38 = 0, parameter [10255:0] INITVAL_39 = 0,
    parameter [10255:0] INITVAL_3A = 0, parameter [10255:0] INITVAL_3B = 0,
    parameter [10255:0] INITVAL_3C = 0, parameter [10255:0] INITVAL_3D = 0,
    parameter [10255:0] INITVAL_3E = 0, parameter [10255:0] INITVAL_3F = 0,
    parameter [10255:0] INITVAL_40 = 0, parameter [10255:0] INITVAL_41 = 0,
    parameter [10255:0] INITVAL_42 = 0, parameter [10255:0] INITVAL_43 = 0,
    parameter [10255:0] INITVAL_44 = 0, parameter [10255:0] INITVAL_45 = 0,
    parameter [10255:0] INITVAL_46 = 0, parameter [10255:0] INITVAL_47 = 0,
    parameter [10255:0] INITVAL_48 = 0, parameter [10255:0] INITVAL_49 = 0,
    parameter [10255:0] INITVAL_4A = 0, parameter [10255:0] INITVAL_4B = 0,
    parameter [10255:0] INITVAL_4C = 0, parameter [10255:0] INITVAL_4D = 0,
    parameter [10255:0] INITVAL_4E = 0, parameter [10255:0] INITVAL_4F = 0,
    parameter [10255:0] INITVAL_50 = 0, parameter [10255:0] INITVAL_51 = 0,
    parameter [10255:0] INITVAL_52 = 0, parameter [10255:0] INITVAL_53 = 0,
    parameter [10255:0] INITVAL_54 = 0, parameter [10255:0] INITVAL_55 = 0,
    parameter [10255:0] INITVAL_56 = 0, parameter [10255:0] INITVAL_57 = 0,
    parameter [10255:0] INITVAL_58 = 0, parameter [10255:0] INITVAL_59 = 0,
    parameter [10255:0] INITVAL_5A = 0, parameter [10255:0] INITVAL_5B = 0,
    parameter [10255:0] INITVAL_5C = 0, parameter [10255:0] INITVAL_5D = 0,
    parameter [10255:0] INITVAL_5E = 0, parameter [10255:0] INITVAL_5F = 0,
    parameter [10255:0] INITVAL_60 = 0, parameter [10255:0] INITVAL_61 = 0,
    parameter [10255:0] INITVAL_62 = 0, parameter [10255:0] INITVAL_63 = 0,
    parameter [10255:0] INITVAL_64 = 0, parameter [10255:0] INITVAL_65 = 0,
    parameter [10255:0] INITVAL_66 = 0, parameter [10255:0] INITVAL_67 = 0,
    parameter [10255:0] INITVAL_68 = 0, parameter [10255:0] INITVAL_69 = 0,
    parameter [10255:0] INITVAL_6A = 0, parameter [10255:0] INITVAL_6B = 0,
    parameter [10255:0] INITVAL_6C = 0, parameter [10255:0] INITVAL_6D = 0,
    parameter [10255:0] INITVAL_6E = 0, parameter [10255:0] INITVAL_6F = 0,
    parameter [10255:0] INITVAL_70 = 0, parameter [10255:0] INITVAL_71 = 0,
    parameter [10255:0] INITVAL_72 = 0, parameter [10255:0] INITVAL_73 = 0,
    parameter [10255:0] INITVAL_74 = 0, parameter [10255:0] INITVAL_75 = 0,
    parameter [10255:0] INITVAL_76 = 0, parameter [10255:0] INITVAL_77 = 0,
    parameter [10255:0] INITVAL_78 = 0, parameter [10255:0] INITVAL_79 = 0,
    parameter [10255:0] INITVAL_7A = 0, parameter [10255:0] INITVAL_7B = 0,
    parameter [10255:0] INITVAL_7C = 0, parameter [10255:0] INITVAL_7D = 0,
    parameter [10255:0] INITVAL_7E = 0, parameter [10255:0] INITVAL_7F = 0
) (
    input wire [31:0] DIA, DIB, input wire [13:0] ADA, ADB, input wire CLK, CEA, CEB, WEA, WEB, CSA, CSB, RSTA, RSTB,
    input wire [3:0] BENA_N, BENB_N, input wire CEOUTA, CEOUTB, output wire [31:0] DOA, DOB,
    output wire [1:0] ERRDECA, ERRDECB
);
    reg [31:0] words [0:16383];
    reg [31:0] a, b;
    integer i;

    // The last 1280 digits of a text, 128 words of 32 bits in 40.
    task fill(input integer part, input [10255:0] text);
        integer word, digit;
        for (word = 0; word < 128; word = word + 1)
            for (digit = 0; digit < 8; digit = digit + 1)
                words[128 * part + word][4 * digit +: 4] = value(text[8 * (10 * word + digit) +: 8]);
    endtask

    function [3:0] value(input [7:0] digit);
        value = digit[6] ? digit[3:0] + 4'd9 : digit[3:0];
    endfunction

    always @(posedge CLK) begin
        if (OUTREG_A != "NO_REG" || OUTREG_B != "NO_REG" || ECC_BYTE_SEL != "BYTE_EN" || CSA !== 1'b1 || CSB !== 1'b1 ||
            (RESETMODE != "SYNC" && (RSTA !== 1'b0 || RSTB !== 1'b0))) begin
            $display("DPSC512K: a mode that this model does not have");
            $finish;
        end
        if (CEA) begin
            if (RSTA) a <= 32'd0;
            else if (!WEA) a <= words[ADA];
            if (WEA)
                for (i = 0; i < 4; i = i + 1)
                    if (!BENA_N[i]) words[ADA][8 * i +: 8] <= DIA[8 * i +: 8];
        end
        if (CEB) begin
            if (RSTB) b <= 32'd0;
            else if (!WEB) b <= words[ADB];
            if (WEB)
                for (i = 0; i < 4; i = i + 1)
                    if (!BENB_N[i]) words[ADB][8 * i +: 8] <= DIB[8 * i +: 8];
        end
    end
    assign DOA = a, DOB = b;
    assign ERRDECA = 2'd0, ERRDECB = 2'd0;

    initial begin
        fill(0, INITVAL_00); fill(1, INITVAL_01); fill(2, INITVAL_02); fill(3, INITVAL_03);
        fill(4, INITVAL_04); fill(5, INITVAL_05); fill(6, INITVAL_06); fill(7, INITVAL_07);
        fill(8, INITVAL_08); fill(9, INITVAL_09); fill(10, INITVAL_0A); fill(11, INITVAL_0B);
        fill(12, INITVAL_0C); fill(13, INITVAL_0D); fill(14, INITVAL_0E); fill(15, INITVAL_0F);
        fill(16, INITVAL_10); fill(17, INITVAL_11); fill(18, INITVAL_12); fill(19, INITVAL_13);
        fill(20, INITVAL_14); fill(21, INITVAL_15); fill(22, INITVAL_16); fill(23, INITVAL_17);
        fill(24, INITVAL_18); fill(25, INITVAL_19); fill(26, INITVAL_1A); fill(27, INITVAL_1B);
        fill(28, INITVAL_1C); fill(29, INITVAL_1D); fill(30, INITVAL_1E); fill(31, INITVAL_1F);
        fill(32, INITVAL_20); fill(33, INITVAL_21); fill(34, INITVAL_22); fill(35, INITVAL_23);
        fill(36, INITVAL_24); fill(37, INITVAL_25); fill(38, INITVAL_26); fill(39, INITVAL_27);
        fill(40, INITVAL_28); fill(41, INITVAL_29); fill(42, INITVAL_2A); fill(43, INITVAL_2B);
        fill(44, INITVAL_2C); fill(45, INITVAL_2D); fill(46, INITVAL_2E); fill(47, INITVAL_2F);
        fill(48, INITVAL_30); fill(49, INITVAL_31); fill(50, INITVAL_32); fill(51, INITVAL_33);
        fill(52, INITVAL_34); fill(53, INITVAL_35); fill(54, INITVAL_36); fill(55, INITVAL_37);
        fill(56, INITVAL_38); fill(57, INITVAL_39); fill(58, INITVAL_3A); fill(59, INITVAL_3B);
        fill(60, INITVAL_3C); fill(61, INITVAL_3D); fill(62, INITVAL_3E); fill(63, INITVAL_3F);
        fill(64, INITVAL_40); fill(65, INITVAL_41); fill(66, INITVAL_42); fill(67, INITVAL_43);
        fill(68, INITVAL_44); fill(69, INITVAL_45); fill(70, INITVAL_46); fill(71, INITVAL_47);
        fill(72, INITVAL_48); fill(73, INITVAL_49); fill(74, INITVAL_4A); fill(75, INITVAL_4B);
        fill(76, INITVAL_4C); fill(77, INITVAL_4D); fill(78, INITVAL_4E); fill(79, INITVAL_4F);
        fill(80, INITVAL_50); fill(81, INITVAL_51); fill(82, INITVAL_52); fill(83, INITVAL_53);
        fill(84, INITVAL_54); fill(85, INITVAL_55); fill(86, INITVAL_56); fill(87, INITVAL_57);
        fill(88, INITVAL_58); fill(89, INITVAL_59); fill(90, INITVAL_5A); fill(91, INITVAL_5B);
        fill(92, INITVAL_5C); fill(93, INITVAL_5D); fill(94, INITVAL_5E); fill(95, INITVAL_5F);
        fill(96, INITVAL_60); fill(97, INITVAL_61); fill(98, INITVAL_62); fill(99, INITVAL_63);
        fill(100, INITVAL_64); fill(101, INITVAL_65); fill(102, INITVAL_66); fill(103, INITVAL_67);
        fill(104, INITVAL_68); fill(105, INITVAL_69); fill(106, INITVAL_6A); fill(107, INITVAL_6B);
        fill(108, INITVAL_6C); fill(109, INITVAL_6D); fill(110, INITVAL_6E); fill(111, INITVAL_6F);
        fill(112, INITVAL_70); fill(113, INITVAL_71); fill(114, INITVAL_72); fill(115, INITVAL_73);
        fill(116, INITVAL_74); fill(117, INITVAL_75); fill(118, INITVAL_76); fill(119, INITVAL_77);
        fill(120, INITVAL_78); fill(121, INITVAL_79); fill(122, INITVAL_7A); fill(123, INITVAL_7B);
        fill(124, INITVAL_7C); fill(125, INITVAL_7D); fill(126, INITVAL_7E); fill(127, INITVAL_7F);
        a = 32'd0;
        b = 32'd0;
    end
endmodule
`default_nettype wire
