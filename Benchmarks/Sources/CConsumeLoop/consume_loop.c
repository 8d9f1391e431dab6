#include "CConsumeLoop.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { patience_ms = 10000 };

struct consume_loop {
  rd_kafka_t *rk;
  /// The next offset of each partition.
  rd_kafka_topic_partition_list_t *next;
  unsigned checksum;
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

consume_loop *consume_loop_new(const char *bootstrap_servers, const char *topic, int partitions, char *error,
                               size_t error_size) {
  // The same properties as the worker's consumer, otherwise librdkafka's defaults.
  const char *properties[][2] = {
      {"bootstrap.servers", bootstrap_servers}, {"group.id", "bench-loop"},    {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},    {"fetch.wait.max.ms", "50"},   {"socket.nagle.disable", "true"},
      {"isolation.level", "read_committed"},    {"auto.offset.reset", "earliest"}, {"log_level", "3"},
  };
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
    if (rd_kafka_conf_set(conf, properties[i][0], properties[i][1], error, error_size) != RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      return NULL;
    }
  }
  rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, error_size);
  if (!rk) {
    rd_kafka_conf_destroy(conf);
    return NULL;
  }
  rd_kafka_poll_set_consumer(rk);
  consume_loop *loop = calloc(1, sizeof *loop);
  if (!loop) {
    snprintf(error, error_size, "no memory");
    rd_kafka_destroy(rk);
    return NULL;
  }
  loop->rk = rk;
  loop->next = rd_kafka_topic_partition_list_new(partitions);
  // Not RD_KAFKA_OFFSET_BEGINNING, which librdkafka has to look up at the leader. While the leader is unknown, it waits
  // half a second before it retries, which would be most of a short round.
  for (int i = 0; i < partitions; i++) {
    rd_kafka_topic_partition_list_add(loop->next, topic, i)->offset = 0;
  }
  return loop;
}

int consume_loop_run(consume_loop *loop, size_t count, size_t warm_up, uint64_t *elapsed, char *error,
                     size_t error_size) {
  rd_kafka_resp_err_t err = rd_kafka_assign(loop->rk, loop->next);
  if (err) {
    snprintf(error, error_size, "%s", rd_kafka_err2str(err));
    return -1;
  }
  uint64_t started = now();
  size_t taken = 0;
  // One by one, as in the client's examples, because a batch call waits until the batch is full.
  while (taken < count) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll(loop->rk, patience_ms);
    if (!message) {
      snprintf(error, error_size, "only %zu of %zu records came", taken, count);
      return -1;
    }
    if (!message->err) {
      taken += 1;
      loop->next->elems[message->partition].offset = message->offset + 1;
      if (message->len > 0) loop->checksum += ((unsigned char *)message->payload)[message->len - 1];
      if (taken == warm_up) started = now();
    }
    rd_kafka_message_destroy(message);
  }
  *elapsed = now() - started;
  // Fetches nothing while other contenders run.
  rd_kafka_assign(loop->rk, NULL);
  return 0;
}

void consume_loop_free(consume_loop *loop) {
  rd_kafka_consumer_close(loop->rk);
  rd_kafka_destroy(loop->rk);
  rd_kafka_topic_partition_list_destroy(loop->next);
  free(loop);
}
