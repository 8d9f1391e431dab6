"""The measurements of scripts/bench postgres."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

from confluent_kafka import Producer

parser = argparse.ArgumentParser()
for name in ("bin", "psql", "url", "bootstrap", "prefix", "directory"):
    parser.add_argument(f"--{name}", required=True)
parser.add_argument("--rows", type=int, required=True)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
directory = pathlib.Path(options.directory)


def say(text):
    print(text, file=sys.stderr, flush=True)


def psql(*arguments):
    command = [f"{options.psql}/psql", "-qAtX", options.url, "-v", "ON_ERROR_STOP=1", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def query(sql):
    return psql("-c", sql)


def stamp(day):
    return f"2026-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}T12:00:00.000Z"


def token(number):
    """A decoded transaction, as large as Apple's are."""
    return f"{2_000_000_000_000_000 + number // 3}", {
        "kind": "transaction", "notificationUUID": str(uuid.UUID(int=number * 0x9E3779B97F4A7C15 % 2**128)),
        "notificationType": "DID_RENEW", "verified": True, "receivedAt": stamp(number),
        "originalTransactionId": f"{2_000_000_000_000_000 + number // 3}",
        "transactionId": f"{2_000_000_500_000_000 + number}", "webOrderLineItemId": f"{2_000_000_000_900_000 + number}",
        "bundleId": "com.example.app", "productId": "com.example.app.monthly", "subscriptionGroupIdentifier": "21345678",
        "purchaseDate": stamp(number), "originalPurchaseDate": stamp(number // 3), "expiresDate": stamp(number + 30),
        "quantity": 1, "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED",
        "signedDate": stamp(number), "environment": "Production", "storefront": "USA", "storefrontId": "143441",
        "transactionReason": "RENEWAL", "currency": "USD", "price": 9990, "appTransactionId": f"{700_000_000_000_000 + number}",
    }


def subscription(number):
    """A row of appstore.subscriptions."""
    return f"{2_000_000_000_000_000 + number}", {
        "originalTransactionId": f"{2_000_000_000_000_000 + number}", "bundleId": "com.example.app",
        "environment": "Production", "status": "active", "entitledUntil": stamp(number + 30),
        "productId": "com.example.app.monthly", "subscriptionGroupIdentifier": "21345678",
        "expiresDate": stamp(number + 30), "autoRenews": True, "autoRenewProductId": "com.example.app.monthly",
        "renewalPrice": 9990, "renewalCurrency": "USD", "transactionId": f"{2_000_000_500_000_000 + number}",
        "purchaseDate": stamp(number), "originalPurchaseDate": stamp(number), "price": 9990, "currency": "USD",
        "ownership": "PURCHASED", "appAccountToken": str(uuid.UUID(int=number * 0x9E3779B97F4A7C15 % 2**128)),
        "appTransactionId": f"{700_000_000_000_000 + number}", "signedDate": stamp(number),
        "cause": {"kind": "notification", "notificationType": "DID_RENEW", "id": str(uuid.UUID(int=number))},
    }


def fill(topic, make):
    producer = Producer({
        "bootstrap.servers": options.bootstrap, "acks": "all", "linger.ms": 20, "partitioner": "murmur2_random",
        "queue.buffering.max.messages": 200_000, "compression.type": "none",
    })
    for number in range(options.rows):
        key, value = make(number)
        data = json.dumps(value, separators=(",", ":"))
        while True:
            try:
                producer.produce(options.prefix + topic, data, key)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    producer.flush()


def cpu(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def written(topic):
    """Sums the positions: an offset for each record, because the benchmark writes without transactions."""
    return int(query(f"SELECT coalesce(sum(next), 0) FROM millrace.positions WHERE topic = '{options.prefix}{topic}'"))


def run(table, topic):
    """Rows per second of one millrace-postgres, from its first transaction to its last, and its CPU time per row."""
    environment = dict(os.environ, MILLRACE_POSTGRES_TABLES=f"[{table}]")
    with open(directory / f"{table}.log", "w") as log:
        process = subprocess.Popen([f"{options.bin}/millrace-postgres"], env=environment, stdout=log, stderr=log)
    try:
        while (first := written(topic)) == 0:
            if process.poll() is not None:
                sys.exit((directory / f"{table}.log").read_text())
            time.sleep(0.01)
        begin = time.monotonic()
        while written(topic) < options.rows:
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        return (options.rows - first) / seconds, cpu(process) / options.rows
    finally:
        process.terminate()
        process.wait()


def columns(table):
    names = query(
        "SELECT string_agg('\"' || column_name || '\"', ', ' ORDER BY ordinal_position) FROM information_schema.columns "
        f"WHERE table_schema = 'millrace' AND table_name = '{table}' AND column_name <> 'updated_at'")
    return names


def copied(table, merge):
    """Rows per second of psql: COPY of the same rows, for a table with a key into a temporary table and the merge."""
    names, file = columns(table), directory / f"{table}.copy"
    psql("-c", f"\\copy millrace.{table} ({names}) TO '{file}'")
    query(f"TRUNCATE millrace.{table}")
    if merge:
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in names.split(", ") if name != f'"{merge}"')
        statements = [
            "BEGIN", f"CREATE TEMPORARY TABLE staged ON COMMIT DROP AS SELECT {names} FROM millrace.{table} WITH NO DATA",
            f"\\copy staged ({names}) FROM '{file}'",
            f'INSERT INTO millrace.{table} ({names}) SELECT {names} FROM staged ORDER BY "{merge}" '
            f'ON CONFLICT ("{merge}") DO UPDATE SET {changes}, updated_at = now()', "COMMIT",
        ]
    else:
        statements = [f"\\copy millrace.{table} ({names}) FROM '{file}'"]
    begin = time.monotonic()
    psql(*[argument for statement in statements for argument in ("-c", statement)])
    return options.rows / (time.monotonic() - begin)


def latencies():
    """Latencies of the question about a customer in milliseconds, with four clients."""
    query("TRUNCATE millrace.subscriptions")
    query(
        """INSERT INTO millrace.subscriptions (original_transaction_id, app_account_token, bundle_id, environment,
          product_id, status, entitled_until, transaction_id, purchase_date, signed_date, cause)
        SELECT (2000000000000000 + n)::text, md5(n::text)::uuid::text, 'com.example.app', 'Production',
          'com.example.app.monthly', 'active', now() + n % 30 * interval '1 day', (2000000500000000 + n)::text, now(), now(),
          '{"kind": "answer", "id": "x"}'
        FROM generate_series(1, 1000000) AS n""")
    query("VACUUM ANALYZE millrace.subscriptions")
    script = directory / "question.sql"
    script.write_text(
        "\\set n random(1, 1000000)\n"
        "SELECT product_id, entitled, entitled_until FROM millrace.customer_entitlements "
        "WHERE app_account_token = md5(:n::text)::uuid::text AND entitled;\n")
    command = [f"{options.psql}/pgbench", "-n", "-M", "prepared", "-c", "4", "-T", "15", "-l", "--log-prefix", str(directory / "log")]
    subprocess.run([*command, "-f", str(script), options.url], check=True, capture_output=True, cwd=directory)
    times = sorted(
        int(line.split()[2]) for file in directory.glob("log.*") for line in file.read_text().splitlines())
    return len(times), times[len(times) // 2] / 1000, times[len(times) * 99 // 100] / 1000


result = {"rows": options.rows, "version": query("SHOW server_version")}
for table, topic, make, key in (
    ("transactions", "appstore.decoded.transactions", token, None),
    ("subscriptions", "appstore.subscriptions", subscription, "original_transaction_id"),
):
    say(f"Writing {options.rows} records of {table} to Kafka")
    fill(topic, make)
    say(f"Writing them to PostgreSQL, first with millrace-postgres, then with psql")
    query("CHECKPOINT")
    speed, seconds = run(table, topic)
    count = int(query(f"SELECT count(*) FROM millrace.{table}"))
    if count != options.rows:
        sys.exit(f"{count} rows of {options.rows}")
    query("CHECKPOINT")
    direct = copied(table, key)
    result[table] = {"rowsPerSecond": speed, "psqlRowsPerSecond": direct, "ratio": speed / direct, "cpuPerRow": seconds}
say("Asking about customers")
count, median, slow = latencies()
result["question"] = {"subscriptions": 1_000_000, "asked": count, "p50": median, "p99": slow}
if options.json:
    print(json.dumps(result))
else:
    for table in ("transactions", "subscriptions"):
        one = result[table]
        print(
            f"{table:14} {one['rowsPerSecond']:9,.0f} rows/s   psql {one['psqlRowsPerSecond']:9,.0f} rows/s   "
            f"ratio {one['ratio']:.2f}   {one['cpuPerRow'] * 1e6:.1f} µs CPU per row")
    print(f"question       p50 {median:.2f} ms   p99 {slow:.2f} ms   {count:,} asked of 1,000,000 subscriptions, 4 clients")
