// What Swift cannot import of librdkafka by itself: the variadic produce call, and macros that are no constants.
#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdlib.h>
#include <string.h>

/// Enqueues one message. Key and value are copied. On success librdkafka owns `headers`; on failure the caller does.
static inline rd_kafka_error_t *millrace_produce(
    rd_kafka_t *rk, const char *topic, int32_t partition, const void *key, size_t key_size, const void *value,
    size_t value_size, rd_kafka_headers_t *headers, int64_t timestamp_ms, void *opaque) {
  rd_kafka_vu_t vus[8];
  size_t n = 0;
  vus[n].vtype = RD_KAFKA_VTYPE_TOPIC;
  vus[n++].u.cstr = topic;
  vus[n].vtype = RD_KAFKA_VTYPE_PARTITION;
  vus[n++].u.i32 = partition;
  vus[n].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  vus[n++].u.i = RD_KAFKA_MSG_F_COPY;
  vus[n].vtype = RD_KAFKA_VTYPE_VALUE;
  vus[n].u.mem.ptr = (void *)value;
  vus[n++].u.mem.size = value_size;
  vus[n].vtype = RD_KAFKA_VTYPE_KEY;
  vus[n].u.mem.ptr = (void *)key;
  vus[n++].u.mem.size = key_size;
  vus[n].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
  vus[n++].u.i64 = timestamp_ms;
  vus[n].vtype = RD_KAFKA_VTYPE_OPAQUE;
  vus[n++].u.ptr = opaque;
  if (headers != NULL) {
    vus[n].vtype = RD_KAFKA_VTYPE_HEADERS;
    vus[n++].u.headers = headers;
  }
  return rd_kafka_produceva(rk, vus, n);
}

/// librdkafka frees a partition's metadata with `free`, so it has to come from `malloc`.
static inline void millrace_set_metadata(rd_kafka_topic_partition_t *partition, const char *bytes, size_t size) {
  void *copy = malloc(size == 0 ? 1 : size);
  if (copy == NULL) return;
  memcpy(copy, bytes, size);
  free(partition->metadata);
  partition->metadata = copy;
  partition->metadata_size = size;
}

/// The mock broker answers its next request of a kind late, with `error` (0: as if nothing had happened).
static inline rd_kafka_resp_err_t millrace_mock_delay_request(
    rd_kafka_mock_cluster_t *cluster, int32_t broker, int16_t api_key, rd_kafka_resp_err_t error, int rtt_ms) {
  return rd_kafka_mock_broker_push_request_error_rtts(cluster, broker, api_key, 1, error, rtt_ms);
}
