// A plain librdkafka producer: one thread, one window of unacknowledged messages, a poll loop.
#ifndef MILLRACE_CPRODUCELOOP_H
#define MILLRACE_CPRODUCELOOP_H

#include <stddef.h>
#include <stdint.h>

/// Produces `count` messages of `size` bytes to `topic`, with keys in turn and at most `in_flight` unacknowledged.
///
/// Writes the nanoseconds from the produce call to the delivery report of each message to `latencies` (room for
/// `count`) and the whole loop's to `elapsed`. Returns 0, or -1 with a reason in `error` (room for `error_size`).
int produce_loop(const char *bootstrap_servers, const char *topic, size_t count, size_t size, size_t in_flight,
                 uint64_t *latencies, uint64_t *elapsed, char *error, size_t error_size);

#endif
