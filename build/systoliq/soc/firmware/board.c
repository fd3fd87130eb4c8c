/* Output on the UART, cycles, the engine; see board.h. */
#include "board.h"

static volatile uint32_t *word_at(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

static void put_byte(uint32_t byte) {
    while (*word_at(SOC_UART_STATUS) & SOC_UART_STATUS_BUSY_MASK) {
    }
    *word_at(SOC_UART_DATA) = byte;
}

void put_text(const char *text) {
    while (*text) put_byte((uint8_t)*text++);
}

void put_number(uint32_t number) {
    char digits[11];
    int at = 10;
    digits[at] = 0;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    put_text(digits + at);
}

void put_hex(uint32_t byte) {
    static const char digits[] = "0123456789abcdef";
    put_byte((uint8_t)digits[byte >> 4 & 15]);
    put_byte((uint8_t)digits[byte & 15]);
}

void put_end(void) { put_byte(4); }

void set_leds(uint32_t on) { *word_at(SOC_LEDS) = on; }

int fault(void) { return *word_at(SOC_FAULT) != 0; }

static uint32_t read_register(void *user, uint32_t offset) {
    (void)user;
    return *word_at(SOC_ENGINE + offset);
}

static void write_register(void *user, uint32_t offset, uint32_t value) {
    (void)user;
    *word_at(SOC_ENGINE + offset) = value;
}

int find_engine(systoliq_engine *e) {
    static const systoliq_hooks hooks = {0, read_register, write_register, 0, 0, 0, 0, 0, 0, 0};
    e->hooks = hooks;
    return systoliq_probe(e);
}
