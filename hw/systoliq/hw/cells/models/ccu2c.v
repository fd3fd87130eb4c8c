// Simulation model of ECP5's CCU2C, two bits of a carry chain, written for systoliq.
//
// Each half looks its four inputs up in INIT (index DCBA) and adds the carry that comes in. Where the looked-up bit is 0
// the carry out is INIT[BA], the lookup without C and D. INJECT1 = "YES" cuts the carry in. Agrees with Yosys' model
// (techlibs/ecp5/ccu2c_sim.vh) on all inputs: tests/synth/test_models.py.
`default_nettype none
module CCU2C #(
    parameter [15:0] INIT0 = 16'h0000,
    parameter [15:0] INIT1 = 16'h0000,
    parameter INJECT1_0 = "YES",
    parameter INJECT1_1 = "YES"
) (
    input wire CIN, A0, B0, C0, D0, A1, B1, C1, D1,
    output wire S0, S1, COUT
);
    // By halving and not by index: an unknown input then does no harm where both halves agree.
    wire [7:0] by_d0 = D0 ? INIT0[15:8] : INIT0[7:0];
    wire [7:0] by_d1 = D1 ? INIT1[15:8] : INIT1[7:0];
    wire [3:0] by_c0 = C0 ? by_d0[7:4] : by_d0[3:0];
    wire [3:0] by_c1 = C1 ? by_d1[7:4] : by_d1[3:0];
    wire [1:0] by_b0 = B0 ? by_c0[3:2] : by_c0[1:0];
    wire [1:0] by_b1 = B1 ? by_c1[3:2] : by_c1[1:0];
    wire half0 = A0 ? by_b0[1] : by_b0[0];
    wire half1 = A1 ? by_b1[1] : by_b1[0];
    wire [1:0] plain0 = B0 ? INIT0[3:2] : INIT0[1:0];
    wire [1:0] plain1 = B1 ? INIT1[3:2] : INIT1[1:0];
    wire generate0 = A0 ? plain0[1] : plain0[0];
    wire generate1 = A1 ? plain1[1] : plain1[0];
    wire carry0 = half0 ? CIN : INJECT1_0 != "YES" && generate0;
    assign S0 = half0 ^ (INJECT1_0 != "YES" && CIN);
    assign S1 = half1 ^ (INJECT1_1 != "YES" && carry0);
    assign COUT = half1 ? carry0 : INJECT1_1 != "YES" && generate1;
endmodule
`default_nettype wire
