/* A compiled model in SDRAM: the processor starts its list, waits, and sends the result.

   On the UART, it sends '?' until it receives a number of bytes (4 bytes, the lowest first) and these bytes for the
   SDRAM. Then it sends three lines in hexadecimal: the error or 0, the cycles of the list, and the bytes of the result.

   system.py writes csr.h and sdram_phy.h (from LiteX) and task.h. */
#include "csr.h"
#include "engine_lists.h"
#include "sdram_phy.h"
#include "task.h"

#define MOST_POLLS 10000000u
#define ASKS_AFTER 1000000u /* polls of the UART, some seconds */

static void put_byte(uint32_t byte) {
    while (uart_txfull_read()) {
    }
    uart_rxtx_write(byte);
}

static void put_hex(uint32_t byte) {
    static const char digits[] = "0123456789abcdef";
    put_byte((uint8_t)digits[byte >> 4 & 15]);
    put_byte((uint8_t)digits[byte & 15]);
}

static void put_word(uint32_t word) {
    int shift;
    for (shift = 24; shift >= 0; shift -= 8) put_hex(word >> shift);
    put_byte('\n');
}

static uint8_t get_byte(void) {
    uint8_t byte;
    while (uart_rxempty_read()) {
    }
    byte = (uint8_t)uart_rxtx_read();
    uart_ev_pending_write(2); /* takes the byte out of the FIFO */
    return byte;
}

static void load(void) {
    volatile uint8_t *memory = (volatile uint8_t *)(uintptr_t)MAIN_RAM;
    uint32_t bytes = 0, i;
    while (uart_rxempty_read()) {
        put_byte('?');
        for (i = 0; i < ASKS_AFTER && uart_rxempty_read(); i++) {
        }
    }
    for (i = 0; i < 4; i++) bytes |= (uint32_t)get_byte() << 8 * i;
    for (i = 0; i < bytes; i++) memory[i] = get_byte();
}

static uint32_t cycles(void) {
    uint32_t count;
    __asm__ volatile("rdcycle %0" : "=r"(count));
    return count;
}

static uint32_t read_register(void *user, uint32_t offset) {
    (void)user;
    return *(volatile uint32_t *)(uintptr_t)(ENGINE + offset);
}

static void write_register(void *user, uint32_t offset, uint32_t value) {
    (void)user;
    *(volatile uint32_t *)(uintptr_t)(ENGINE + offset) = value;
}

int main(void) {
    static const systoliq_hooks hooks = {0, read_register, write_register, 0, 0, 0, 0, 0, 0, 0};
    systoliq_engine engine = {0};
    uint32_t begun, i;
    int error;
    sdram_dfii_control_write(DFII_CONTROL_CKE | DFII_CONTROL_ODT | DFII_CONTROL_RESET_N);
    init_sequence();
    sdram_dfii_control_write(DFII_CONTROL_SEL); /* from here on, LiteDRAM drives the SDRAM */
    load();
    engine.hooks = hooks;
    error = systoliq_probe(&engine);
    begun = cycles();
    if (!error) error = systoliq_list_play(&engine, LIST, LIST_WORDS, MOST_POLLS);
    begun = cycles() - begun;
    put_word((uint32_t)error);
    put_word(begun);
    for (i = 0; i < Y_BYTES; i++) put_hex(((const volatile uint8_t *)(uintptr_t)Y)[i]);
    put_byte('\n');
    put_byte(4); /* end of transmission */
    return 0;
}
