// A plain librdkafka consumer: one thread that polls.
#ifndef MILLRACE_CCONSUMELOOP_H
#define MILLRACE_CCONSUMELOOP_H

#include <stddef.h>
#include <stdint.h>

typedef struct consume_loop consume_loop;

/// Creates a consumer of all `partitions` of `topic` that starts at their oldest record.
/// Returns NULL with a reason in `error` (room for `error_size`).
consume_loop *consume_loop_new(const char *bootstrap_servers, const char *topic, int partitions, char *error,
                               size_t error_size);

/// Reads `count` records and the last byte of each. Writes the nanoseconds from record `warm_up` to the last record to
/// `elapsed`. Returns 0, or -1 with a reason in `error`.
int consume_loop_run(consume_loop *loop, size_t count, size_t warm_up, uint64_t *elapsed, char *error,
                     size_t error_size);

void consume_loop_free(consume_loop *loop);

#endif
