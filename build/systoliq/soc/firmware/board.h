/* The system's interface for programs: output on the UART, cycles, the engine. */
#ifndef BOARD_H
#define BOARD_H

#include "engine_lists.h"
#include "soc.h"

void put_text(const char *text);
void put_number(uint32_t number);
void put_hex(uint32_t byte); /* two digits */
void put_end(void);          /* the program has ended: the receiver may stop */

void set_leds(uint32_t on);
int fault(void); /* an access of the processor was refused */

static inline uint32_t cycles(void) {
    uint32_t count;
    __asm__ volatile("rdcycle %0" : "=r"(count));
    return count;
}

/* The engine of this system: see systoliq_probe. */
int find_engine(systoliq_engine *e);

#endif
