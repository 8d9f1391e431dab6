# Refunds of a simulated App Store, for checks of how processes connect to Kafka. Checks source this file after lib.sh.
# shellcheck shell=bash

# refund_scenario PORT COUNT MINUTES prints a scenario in which time passes 60 times as fast: COUNT refunds within MINUTES,
# posted to the ingress at PORT. The sandbox repeats no post, so a notification that is refused remains so.
refund_scenario() {
  cat <<YAML
description: Refunds, posted once.
seed: 1
clock: { rate: 60 }
duration: $(($3 + 25))m
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Sandbox]
    notifications:
      Sandbox: { url: "http://127.0.0.1:$1/v2" }
    products:
      - { productId: com.example.app.coins, type: consumable, price: 990 }
world:
  customers:
    - { count: $2, products: [com.example.app.coins], since: 10d }
events:
  - { do: refund, after: 20m, for: ${3}m, count: $2 }
YAML
}

# start_refunds SCENARIO starts the simulated App Store and waits until it has written root.pem. It writes sent.jsonl.
start_refunds() {
  start "$temporary/simulator.log" "$bin/appstore-simulator" run "$1" --port "$(free_port)" --sandbox-port "$(free_port)" \
    --write-root "$temporary/root.pem" --write-sent "$temporary/sent.jsonl"
  simulator=$!
  wait_for_file "$temporary/root.pem" "$simulator" 30 || { logs; die "the simulator wrote no root"; }
}

# refunds_ready PORT waits until the process with this admin port is ready.
refunds_ready() {
  curl --silent --fail --retry 60 --retry-all-errors --retry-delay 1 --retry-max-time 60 \
    "http://127.0.0.1:$1/readyz" >/dev/null 2>&1 || { logs; die "the process at port $1 did not become ready"; }
}

# compare_refunds MINIMUM waits for the end of the simulation, and compares sent.jsonl with Kafka: at least MINIMUM
# notifications must have been answered with 200, these must be in Kafka, and the refunds worker must have published one event
# for each notification, once. Reads through the listener kafka_servers.
compare_refunds() {
  local answered missing repeated
  wait "$simulator" || { logs; die "the simulator ended with an error"; }
  answered=$(grep -c '"status":200' "$temporary/sent.jsonl") || true
  [ "$answered" -ge "$1" ] || { logs; die "only $answered notifications were answered with 200, expected $1"; }
  timeout 60 "$bin/millrace" listen --topic appstore.events.refunds --from earliest --limit "$answered" --json \
    >"$temporary/events.jsonl" 2>"$temporary/listen.log" ||
    { logs; die "$(wc -l <"$temporary/events.jsonl") events, but $answered notifications were answered with 200"; }
  committed_ids appstore.notifications.refunds >"$temporary/notifications"
  committed_ids appstore.events.refunds >"$temporary/events"
  grep '"status":200' "$temporary/sent.jsonl" | grep -o '"notificationUUID":"[^"]*"' | cut -d '"' -f 4 | sort -u >"$temporary/answered"
  missing=$(comm -23 "$temporary/answered" <(sort -u "$temporary/notifications") | wc -l)
  [ "$missing" -eq 0 ] || die "$missing notifications that were answered with 200 are not in Kafka"
  repeated=$(uniq -d "$temporary/events" | wc -l)
  [ "$repeated" -eq 0 ] || die "$repeated events were published twice"
  [ "$(wc -l <"$temporary/events")" -eq "$(sort -u "$temporary/notifications" | wc -l)" ] ||
    die "$(wc -l <"$temporary/events") events of $(sort -u "$temporary/notifications" | wc -l) notifications"
  note "$(grep -c . "$temporary/sent.jsonl") notifications sent, $answered answered with 200, 0 of them missing, \
$(wc -l <"$temporary/events") events, 0 repeated"
}

# committed_ids TOPIC prints the ids of all records that a consumer of committed records reads, sorted.
committed_ids() {
  kcat -C -b "$kafka_servers" -t "$1" -X isolation.level=read_committed -o beginning -e -q -f '%h\n' 2>>"$temporary/kcat.log" |
    grep -o 'ce_id=[^,]*' | cut -d = -f 2 | sort
}
