/* Compiled models in SDRAM: the processor starts a list, waits, and sends the result.

   On the UART, it sends '?' until it receives a message: a task and its data (image.py writes both). It answers with
   three lines in hexadecimal, the error or 0, the cycles of the list, and the bytes of the result, and waits for the
   next message.

   system.py writes csr.h and sdram_phy.h (from LiteX) and system.h. */
#include "csr.h"
#include "engine_lists.h"
#include "sdram_phy.h"
#include "system.h"

#define MOST_POLLS 10000000u
#define ASKS_AFTER 1000000u /* polls of the UART, some seconds */

/* Errors in addition to those of engine_lists.h. */
#define OTHER_ENGINE 300  /* the program is for another engine: the result is what this engine has, as in `engine` */
#define OTHER_PROGRAM 301 /* an input alone, but its program is not in memory */

/* The first words of a message. */
typedef struct {
    uint32_t address, bytes;      /* the data that follow, and their place in SDRAM */
    uint32_t is_program, program; /* 1: a program, with its number; 0: an input of the program with this number */
    uint32_t list, list_words, y, y_bytes;
    uint32_t engine[4]; /* ARRAY, LANES and BUFFERS of the engine that the program is for, and the bits of its bus */
} task;

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

static void receive(task *given) {
    volatile uint8_t *memory;
    uint32_t i;
    while (uart_rxempty_read()) {
        put_byte('?');
        for (i = 0; i < ASKS_AFTER && uart_rxempty_read(); i++) {
        }
    }
    for (i = 0; i < sizeof *given; i++) ((uint8_t *)given)[i] = get_byte();
    memory = (volatile uint8_t *)(uintptr_t)given->address;
    for (i = 0; i < given->bytes; i++) memory[i] = get_byte();
}

static void answer(int error, uint32_t took, const volatile uint8_t *result, uint32_t bytes) {
    put_word((uint32_t)error);
    put_word(took);
    while (bytes--) put_hex(*result++);
    put_byte('\n');
    put_byte(4); /* end of transmission */
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

static int is_right_engine(const task *given, const uint32_t *found) {
    uint32_t i;
    for (i = 0; i < 4; i++)
        if (given->engine[i] != found[i]) return 0;
    return 1;
}

int main(void) {
    static const systoliq_hooks hooks = {0, read_register, write_register, 0, 0, 0, 0, 0, 0, 0};
    systoliq_engine engine = {0};
    uint32_t loaded = 0, begun, found[4]; /* loaded: the number of the program in memory; none has the number 0 */
    task given;
    int error;
    sdram_dfii_control_write(DFII_CONTROL_CKE | DFII_CONTROL_ODT | DFII_CONTROL_RESET_N);
    init_sequence();
    sdram_dfii_control_write(DFII_CONTROL_SEL); /* from here on, LiteDRAM drives the SDRAM */
    engine.hooks = hooks;
    for (;;) {
        receive(&given);
        if (given.is_program)
            loaded = given.program;
        else if (loaded != given.program)
            loaded = 0; /* the input may have overwritten it */
        found[0] = read_register(0, SYSTOLIQ_ENGINE_ARRAY);
        found[1] = read_register(0, SYSTOLIQ_ENGINE_LANES);
        found[2] = read_register(0, SYSTOLIQ_ENGINE_BUFFERS);
        found[3] = BUS_BITS; /* no register has it */
        error = systoliq_probe(&engine);
        if (!error && !is_right_engine(&given, found)) {
            answer(OTHER_ENGINE, 0, (const volatile uint8_t *)found, sizeof found);
            continue;
        }
        if (!error && !loaded) error = OTHER_PROGRAM;
        begun = cycles();
        if (!error) error = systoliq_list_play(&engine, given.list, given.list_words, MOST_POLLS);
        begun = cycles() - begun;
        answer(error, begun, (const volatile uint8_t *)(uintptr_t)given.y, error ? 0 : given.y_bytes);
    }
}
