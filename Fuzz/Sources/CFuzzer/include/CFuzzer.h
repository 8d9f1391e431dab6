// libFuzzer without a `main`: the function that its archive exports (LLVM's "Using libFuzzer as a library").
#ifndef MILLRACE_CFUZZER_H
#define MILLRACE_CFUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test_one_input)(const uint8_t *data, size_t size));

#endif
