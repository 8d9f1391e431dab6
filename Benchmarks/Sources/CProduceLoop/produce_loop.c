#include "CProduceLoop.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct state {
  size_t outstanding;
  size_t failed;
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque) {
  (void)rk;
  struct state *state = opaque;
  uint64_t *latency = message->_private;
  *latency = now() - *latency;
  state->outstanding -= 1;
  if (message->err) state->failed += 1;
}

int produce_loop(const char *bootstrap_servers, const char *topic, size_t count, size_t size, size_t in_flight,
                 uint64_t *latencies, uint64_t *elapsed, char *error, size_t error_size) {
  // The same properties that Millrace's producer sets.
  const char *properties[][2] = {
      {"bootstrap.servers", bootstrap_servers}, {"acks", "all"},         {"enable.idempotence", "true"},
      {"linger.ms", "0"},                       {"socket.nagle.disable", "true"}, {"partitioner", "murmur2_random"},
      {"message.max.bytes", "4194304"},         {"log_level", "3"},
  };
  struct state state = {0, 0};
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
    if (rd_kafka_conf_set(conf, properties[i][0], properties[i][1], error, error_size) != RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      return -1;
    }
  }
  rd_kafka_conf_set_opaque(conf, &state);
  rd_kafka_conf_set_dr_msg_cb(conf, delivered);
  rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, error_size);
  if (!rk) {
    rd_kafka_conf_destroy(conf);
    return -1;
  }
  char *value = malloc(size);
  if (!value) {
    rd_kafka_destroy(rk);
    return -1;
  }
  memset(value, 'x', size);

  int status = 0;
  uint64_t started = now();
  for (size_t i = 0; i < count && status == 0; i++) {
    while (state.outstanding >= in_flight) rd_kafka_poll(rk, 1000);
    char key[24];
    int key_size = snprintf(key, sizeof key, "%zu", i);
    latencies[i] = now();
    rd_kafka_resp_err_t err = rd_kafka_producev(
        rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(key, (size_t)key_size), RD_KAFKA_V_VALUE(value, size),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(&latencies[i]), RD_KAFKA_V_END);
    if (err) {
      snprintf(error, error_size, "%s", rd_kafka_err2str(err));
      status = -1;
    } else {
      state.outstanding += 1;
    }
  }
  while (state.outstanding > 0) rd_kafka_poll(rk, 1000);
  *elapsed = now() - started;
  if (status == 0 && state.failed > 0) {
    snprintf(error, error_size, "%zu of %zu messages were not delivered", state.failed, count);
    status = -1;
  }
  free(value);
  rd_kafka_destroy(rk);
  return status;
}
