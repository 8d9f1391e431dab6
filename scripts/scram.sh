# A Kafka whose clients authenticate by passwords (SCRAM), for checks. Checks source this file after lib.sh.
# shellcheck shell=bash

# start_scram_kafka DIR OPTION... starts an installed Apache Kafka with a second listener, for SCRAM. It sets kafka_servers and
# scram_servers.
start_scram_kafka() {
  start_kafka "$@" \
    --set "listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:{second},CONTROLLER://127.0.0.1:{control}" \
    --set "advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:{second}" \
    --set 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT' \
    --set sasl.enabled.mechanisms=SCRAM-SHA-512 \
    --set "listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;"
  # shellcheck disable=SC2034 # its callers read it
  scram_servers=$(cat "$1/second-servers")
}

# kafka_tool NAME ARGUMENT... runs one of Kafka's own commands. The archive of loaded classes halves the time of each.
kafka_tool() {
  local archive=$temporary/classes.jsa share
  share=-XX:ArchiveClassesAtExit=$archive
  [ ! -e "$archive" ] || share=-XX:SharedArchiveFile=$archive
  KAFKA_OPTS=$share "$root/scripts/kafka" tool "$@" >>"$temporary/tools.log" 2>&1 ||
    { tail -n 20 "$temporary/tools.log" >&2; die "Kafka's command failed: $*"; }
}

# add_scram_user NAME creates a user with the password "secret".
add_scram_user() {
  kafka_tool configs --bootstrap-server "$kafka_servers" --alter --entity-type users --entity-name "$1" \
    --add-config 'SCRAM-SHA-512=[iterations=4096,password=secret]'
}

# scram_properties NAME prints kafka.properties of such a user, on one line.
scram_properties() {
  echo "{ security.protocol: sasl_plaintext, sasl.mechanism: SCRAM-SHA-512, sasl.username: $1, sasl.password: secret }"
}

# installed_kafka prints the version of the installed Kafka.
installed_kafka() { basename "$("$root/scripts/kafka" found)"/kafka_2.1*.jar .jar | sed 's/.*-//'; }

# at_least VERSION MINIMUM compares versions.
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | sed -n 1p)" = "$2" ]; }
