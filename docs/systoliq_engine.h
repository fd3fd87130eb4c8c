/* Registers of the systoliq engine; made by `systoliq registers`, do not edit. */
#ifndef SYSTOLIQ_ENGINE_H
#define SYSTOLIQ_ENGINE_H

#define SYSTOLIQ_ENGINE_MAP_MAJOR 3u
#define SYSTOLIQ_ENGINE_MAP_MINOR 0u

/* Identification: 0x5351, 'SQ'. (read) */
#define SYSTOLIQ_ENGINE_ID 0x00u
#define SYSTOLIQ_ENGINE_ID_ID_SHIFT 0
#define SYSTOLIQ_ENGINE_ID_ID_MASK 0xFFFFFFFFu

/* Version of this register map. (read) */
#define SYSTOLIQ_ENGINE_VERSION 0x04u
#define SYSTOLIQ_ENGINE_VERSION_MINOR_SHIFT 0
#define SYSTOLIQ_ENGINE_VERSION_MINOR_MASK 0x0000FFFFu
#define SYSTOLIQ_ENGINE_VERSION_MAJOR_SHIFT 16
#define SYSTOLIQ_ENGINE_VERSION_MAJOR_MASK 0xFFFF0000u

/* Size of the array, and its dataflow. (read) */
#define SYSTOLIQ_ENGINE_ARRAY 0x08u
#define SYSTOLIQ_ENGINE_ARRAY_ROWS_SHIFT 0
#define SYSTOLIQ_ENGINE_ARRAY_ROWS_MASK 0x000001FFu
#define SYSTOLIQ_ENGINE_ARRAY_COLS_SHIFT 9
#define SYSTOLIQ_ENGINE_ARRAY_COLS_MASK 0x0003FE00u
#define SYSTOLIQ_ENGINE_ARRAY_DEPTH_SHIFT 18
#define SYSTOLIQ_ENGINE_ARRAY_DEPTH_MASK 0x07FC0000u
#define SYSTOLIQ_ENGINE_ARRAY_WEIGHT_STATIONARY_SHIFT 27
#define SYSTOLIQ_ENGINE_ARRAY_WEIGHT_STATIONARY_MASK 0x08000000u

/* Drain lanes. (read) */
#define SYSTOLIQ_ENGINE_LANES 0x0Cu
#define SYSTOLIQ_ENGINE_LANES_LANES_SHIFT 0
#define SYSTOLIQ_ENGINE_LANES_LANES_MASK 0x000001FFu

/* Sizes of buffers and tables, as powers of two. (read) */
#define SYSTOLIQ_ENGINE_BUFFERS 0x10u
#define SYSTOLIQ_ENGINE_BUFFERS_A_WORDS_LOG2_SHIFT 0
#define SYSTOLIQ_ENGINE_BUFFERS_A_WORDS_LOG2_MASK 0x0000001Fu
#define SYSTOLIQ_ENGINE_BUFFERS_B_WORDS_LOG2_SHIFT 8
#define SYSTOLIQ_ENGINE_BUFFERS_B_WORDS_LOG2_MASK 0x00001F00u
#define SYSTOLIQ_ENGINE_BUFFERS_MAX_COLUMNS_LOG2_SHIFT 16
#define SYSTOLIQ_ENGINE_BUFFERS_MAX_COLUMNS_LOG2_MASK 0x001F0000u
#define SYSTOLIQ_ENGINE_BUFFERS_MAX_ROWS_LOG2_SHIFT 24
#define SYSTOLIQ_ENGINE_BUFFERS_MAX_ROWS_LOG2_MASK 0x1F000000u

/* Commands. (write) */
#define SYSTOLIQ_ENGINE_CONTROL 0x14u
#define SYSTOLIQ_ENGINE_CONTROL_START_SHIFT 0
#define SYSTOLIQ_ENGINE_CONTROL_START_MASK 0x00000001u
#define SYSTOLIQ_ENGINE_CONTROL_CLEAR_SHIFT 1
#define SYSTOLIQ_ENGINE_CONTROL_CLEAR_MASK 0x00000002u
#define SYSTOLIQ_ENGINE_CONTROL_ACKNOWLEDGE_SHIFT 2
#define SYSTOLIQ_ENGINE_CONTROL_ACKNOWLEDGE_MASK 0x00000004u

/* State. (read) */
#define SYSTOLIQ_ENGINE_STATUS 0x18u
#define SYSTOLIQ_ENGINE_STATUS_BUSY_SHIFT 0
#define SYSTOLIQ_ENGINE_STATUS_BUSY_MASK 0x00000001u
#define SYSTOLIQ_ENGINE_STATUS_DONE_SHIFT 1
#define SYSTOLIQ_ENGINE_STATUS_DONE_MASK 0x00000002u
#define SYSTOLIQ_ENGINE_STATUS_QUEUED_SHIFT 2
#define SYSTOLIQ_ENGINE_STATUS_QUEUED_MASK 0x00000004u
#define SYSTOLIQ_ENGINE_STATUS_ERROR_SHIFT 8
#define SYSTOLIQ_ENGINE_STATUS_ERROR_MASK 0x0000FF00u
#define SYSTOLIQ_ENGINE_STATUS_JOBS_SHIFT 16
#define SYSTOLIQ_ENGINE_STATUS_JOBS_MASK 0xFFFF0000u

/* What raises the interrupt line. (read, write) */
#define SYSTOLIQ_ENGINE_INTERRUPT 0x1Cu
#define SYSTOLIQ_ENGINE_INTERRUPT_ON_DONE_SHIFT 0
#define SYSTOLIQ_ENGINE_INTERRUPT_ON_DONE_MASK 0x00000001u
#define SYSTOLIQ_ENGINE_INTERRUPT_ON_ERROR_SHIFT 1
#define SYSTOLIQ_ENGINE_INTERRUPT_ON_ERROR_MASK 0x00000002u

/* Rows of A and Y. (read, write) */
#define SYSTOLIQ_ENGINE_M 0x20u
#define SYSTOLIQ_ENGINE_M_M_SHIFT 0
#define SYSTOLIQ_ENGINE_M_M_MASK 0x0000FFFFu
#define SYSTOLIQ_ENGINE_M_FIRST_ENTRY_SHIFT 16
#define SYSTOLIQ_ENGINE_M_FIRST_ENTRY_MASK 0xFFFF0000u

/* Columns of A. (read, write) */
#define SYSTOLIQ_ENGINE_K 0x24u
#define SYSTOLIQ_ENGINE_K_K_SHIFT 0
#define SYSTOLIQ_ENGINE_K_K_MASK 0x0000FFFFu

/* Columns of B and Y. (read, write) */
#define SYSTOLIQ_ENGINE_N 0x28u
#define SYSTOLIQ_ENGINE_N_N_SHIFT 0
#define SYSTOLIQ_ENGINE_N_N_MASK 0x0000FFFFu
#define SYSTOLIQ_ENGINE_N_FIRST_ENTRY_SHIFT 16
#define SYSTOLIQ_ENGINE_N_FIRST_ENTRY_MASK 0xFFFF0000u

/* Formats of the job. (read, write) */
#define SYSTOLIQ_ENGINE_FORMAT 0x2Cu
#define SYSTOLIQ_ENGINE_FORMAT_A_UNSIGNED_SHIFT 0
#define SYSTOLIQ_ENGINE_FORMAT_A_UNSIGNED_MASK 0x00000001u
#define SYSTOLIQ_ENGINE_FORMAT_B_UNSIGNED_SHIFT 1
#define SYSTOLIQ_ENGINE_FORMAT_B_UNSIGNED_MASK 0x00000002u
#define SYSTOLIQ_ENGINE_FORMAT_Y_UNSIGNED_SHIFT 2
#define SYSTOLIQ_ENGINE_FORMAT_Y_UNSIGNED_MASK 0x00000004u
#define SYSTOLIQ_ENGINE_FORMAT_Y_INT32_SHIFT 3
#define SYSTOLIQ_ENGINE_FORMAT_Y_INT32_MASK 0x00000008u
#define SYSTOLIQ_ENGINE_FORMAT_ROW_ZERO_POINTS_SHIFT 4
#define SYSTOLIQ_ENGINE_FORMAT_ROW_ZERO_POINTS_MASK 0x00000010u

/* Zero points of the whole tensor, less 128 where the operand is unsigned. (read, write) */
#define SYSTOLIQ_ENGINE_ZERO_POINTS 0x30u
#define SYSTOLIQ_ENGINE_ZERO_POINTS_A_SHIFT 0
#define SYSTOLIQ_ENGINE_ZERO_POINTS_A_MASK 0x000000FFu
#define SYSTOLIQ_ENGINE_ZERO_POINTS_Y_SHIFT 8
#define SYSTOLIQ_ENGINE_ZERO_POINTS_Y_MASK 0x0000FF00u

/* Cycles of the job, and of those queued behind one another since the engine was last not busy: from the first beat of A or B taken to the last of Y, both included. (read) */
#define SYSTOLIQ_ENGINE_BUSY_CYCLES 0x34u
#define SYSTOLIQ_ENGINE_BUSY_CYCLES_CYCLES_SHIFT 0
#define SYSTOLIQ_ENGINE_BUSY_CYCLES_CYCLES_MASK 0xFFFFFFFFu

/* Cycles of those in which the array waited for A or B. (read) */
#define SYSTOLIQ_ENGINE_INPUT_STALLS 0x38u
#define SYSTOLIQ_ENGINE_INPUT_STALLS_CYCLES_SHIFT 0
#define SYSTOLIQ_ENGINE_INPUT_STALLS_CYCLES_MASK 0xFFFFFFFFu

/* Cycles of those in which a beat of Y waited for the receiver. (read) */
#define SYSTOLIQ_ENGINE_OUTPUT_STALLS 0x3Cu
#define SYSTOLIQ_ENGINE_OUTPUT_STALLS_CYCLES_SHIFT 0
#define SYSTOLIQ_ENGINE_OUTPUT_STALLS_CYCLES_MASK 0xFFFFFFFFu

/* Zero point of A of row m, less 128 where A is unsigned: entry M.first_entry + m; behind the last entry comes the first. May be written at any time; those of a job must stay from its start until it has ended. */
#define SYSTOLIQ_ENGINE_ROW_TABLE 0x080000u
#define SYSTOLIQ_ENGINE_ROW_TABLE_STRIDE 4u
#define SYSTOLIQ_ENGINE_ROW_TABLE_ZERO_POINT 0x0u

/* Constants of column n of Y: entry (N.first_entry + n // lanes) * lane_slots + n % lanes, lane_slots = lanes rounded up to a power of two; behind the last entry comes the first. May be written at any time; those of a job must stay from its start until it has ended. */
#define SYSTOLIQ_ENGINE_COLUMN_TABLE 0x100000u
#define SYSTOLIQ_ENGINE_COLUMN_TABLE_STRIDE 16u
#define SYSTOLIQ_ENGINE_COLUMN_TABLE_BIAS 0x0u
#define SYSTOLIQ_ENGINE_COLUMN_TABLE_MULTIPLIER 0x4u
#define SYSTOLIQ_ENGINE_COLUMN_TABLE_SHIFT 0x8u
#define SYSTOLIQ_ENGINE_COLUMN_TABLE_ZERO_POINT 0xCu

/* Values of STATUS.error. */
#define SYSTOLIQ_ENGINE_ERROR_ILLEGAL_SHAPE 1u /* M, K and N must be at least 1. */
#define SYSTOLIQ_ENGINE_ERROR_A_TOO_LARGE 2u /* Where N > cols, A's buffer must hold a group of rows, ceil(K / depth) words (weight-stationary: all of A). */
#define SYSTOLIQ_ENGINE_ERROR_B_TOO_LARGE 3u /* Output-stationary: where M > rows, B's buffer must hold all of B, ceil(K / depth) * ceil(N / cols) words. */
#define SYSTOLIQ_ENGINE_ERROR_TOO_MANY_COLUMNS 4u /* N must not exceed the column table. */
#define SYSTOLIQ_ENGINE_ERROR_TOO_MANY_ROWS 5u /* M must not exceed the row table where zero points are per row or the dataflow is weight-stationary. */
#define SYSTOLIQ_ENGINE_ERROR_QUEUE_FULL 6u /* A job was started while STATUS.queued was 1, or with clear. The others go on undisturbed. */
#define SYSTOLIQ_ENGINE_ERROR_A_ENDED_EARLY 7u /* tlast in the stream of A before its last word. */
#define SYSTOLIQ_ENGINE_ERROR_A_ENDED_LATE 8u /* The last word of A came without tlast. */
#define SYSTOLIQ_ENGINE_ERROR_B_ENDED_EARLY 9u /* tlast in the stream of B before its last word. */
#define SYSTOLIQ_ENGINE_ERROR_B_ENDED_LATE 10u /* The last word of B came without tlast. */

#endif /* SYSTOLIQ_ENGINE_H */
