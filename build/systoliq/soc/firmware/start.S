/* Where the processor begins: the stack, memory that is to be 0, main, and then nothing more. */
    .section .init
    .globl _start
_start:
    la sp, _stack
    la t0, _bss
    la t1, _bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
3:  j 3b
