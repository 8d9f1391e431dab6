// What the two files of this target share.

#pragma once
#include <stdbool.h>
#include <stdint.h>

uint64_t simulation_next(uint64_t *state);
void simulation_interpose(uint64_t seed);
void simulation_count_task(void);
bool simulation_preferred(void **identity, void **implementation);
