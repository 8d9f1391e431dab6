"""The tables of docs/sizing.md: README's measured figures, Apple's limits and the topic files, put into formulas.

Whatever is assumed is named here and shown on the page.
"""
import math
import re

SUBSCRIBERS = (10**5, 10**6, 10**7, 10**8)
SECONDS_A_MONTH = 30 * 86_400

# Assumptions. The first two are rounded up from what the page's own commands print.
NOTIFICATIONS = 1.1  # for each monthly subscriber and month
RECORD_BYTES = 20_000  # with key, headers and Kafka's own
PEAK = 10  # the busiest second, times the mean
EXTENSION_HOURS = 6  # in which Apple tells of a mass extension
FAILING = 0.05  # subscriptions that it does not reach
HANDLER_SECONDS = 0.2  # a receiver's answer
REPLICATION = 3

HORIZON_DAYS = 8  # ledgerHorizon
LEDGER_BYTES = 32  # an entry in memory, at most
STATE_BYTES = 250  # a transaction that was refunded, in the refunds worker
RECORDS_IN_FLIGHT = 256
BYTES_IN_FLIGHT = 16 << 20
PREFETCH_BYTES = 1 << 20


LANES = 12
LARGEST_REPLICA = 4 << 30
TIERS = 5
# What a lane of a worker with one family and its tiers holds of records, at worst: one heap for what is taken and one for
# each tier; and what librdkafka reads ahead for the family, each tier and the replay topic.
HEAPS = (1 + TIERS) * min(BYTES_IN_FLIGHT, RECORDS_IN_FLIGHT * RECORD_BYTES)
PREFETCH = (1 + TIERS + 1) * PREFETCH_BYTES


def cells(readme, row):
    """The figures of the first row of README's tables that begins with this text."""
    for line in readme.splitlines():
        if line.startswith(f"| {row}"):
            return [number(cell) for cell in line.strip("| ").split("|")[1:] if cell.strip()]
    raise SystemExit(f"README.md has no row of figures that begins with: {row}")


def number(text):
    return float(re.sub(r"[^\d.]", "", text))


class Measured:
    """What `scripts/bench` printed."""

    def __init__(self, root):
        readme = (root / "README.md").read_text()
        ingress = cells(readme, "(b) `millrace-ingress`")
        self.ingress, self.ingress_mib = ingress[0], ingress[3]
        verified = cells(readme, "19 371 bytes, verified")
        self.worker, self.worker_micros = verified[1], verified[3]
        restore = re.search(
            r"ledger of\s+1 000 000 entries in ([\d.]+) s with a peak of ([\d.]+) MiB\s+\(([\d.]+) s and ([\d.]+) MiB",
            readme)
        if not restore:
            raise SystemExit("README.md does not say how long a ledger of 1 000 000 entries takes")
        full, peak, empty, base = (float(figure) for figure in restore.groups())
        self.restore_micros = full - empty  # seconds a million entries are microseconds an entry
        self.restore_bytes = (peak - base) * (1 << 20) / 1e6
        self.base_mib = base


class Deployment:
    """The figures for so many subscribers."""

    def __init__(self, subscribers, measured):
        self.month = subscribers * NOTIFICATIONS
        self.mean = self.month / SECONDS_A_MONTH
        self.peak = self.mean * PEAK
        self.extension = subscribers / (EXTENSION_HOURS * 3_600)
        self.disk = self.month * RECORD_BYTES * REPLICATION
        self.ledger_entries = self.month * HORIZON_DAYS / 30
        self.most_entries = self.ledger_entries + subscribers  # a mass extension within the horizon
        self.failing = subscribers * FAILING
        self.ingress_cores = self.extension / (measured.ingress / 2)
        self.worker_cores = self.extension * measured.worker_micros / 1e6
        # One replica may be away. What the others hold then, at worst, beside what each needs for itself.
        base = measured.base_mib * (1 << 20)
        held = self.most_entries * max(measured.restore_bytes, LEDGER_BYTES) + LANES * (HEAPS + PREFETCH)
        self.replicas = max(2, 1 + math.ceil(held / (LARGEST_REPLICA - base)))
        self.replica_bytes = base + held / (self.replicas - 1)


def amount(value, digits=2):
    """At most so many significant digits, with thin thousands as README has them."""
    if value and abs(value) < 10 ** (digits - 1):
        return f"{value:.{digits}g}"
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{rounded:,.0f}".replace(",", " ")


def size(value):
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{amount(value / scale)} {unit}"
    return f"{amount(value)} B"


def span(seconds):
    for unit, scale, least in (("d", 86_400, 3), ("h", 3_600, 2), ("min", 60, 2)):
        if seconds >= scale * least:
            return f"{amount(seconds / scale)} {unit}"
    return f"{amount(seconds)} s" if seconds >= 1 else "under 1 s"


def cores(value):
    return "under 0.1" if value < 0.1 else f"{value:.1f}"


def halves(value):
    """Cores, rounded up to halves."""
    return f"{max(0.5, math.ceil(2 * value) / 2):g} cores"


def memory_limit(value):
    """Rounded up to a power of two."""
    mib = 2 ** math.ceil(math.log2(value / (1 << 20)))
    return f"{mib} MiB" if mib < 1_024 else f"{mib // 1_024} GiB"


def power(value):
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(int(math.log10(value))))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def by_subscribers(deployments, *rows):
    head = ["subscribers", *(power(count) for count in SUBSCRIBERS)]
    return table(head, [[name, *(figure(deployment) for deployment in deployments)] for name, figure in rows])


def limits(root):
    text = (root / "Sources/AppStoreServerAPI/Budget/RateLimits.swift").read_text()
    return {name: float(limit) for name, limit in re.findall(r"\.(\w+): ([\d.]+),", text)}


def share(root):
    text = (root / "docs/configuration.md").read_text()
    return float(re.search(r"\| `appStore.share` \|[^|]*\|[^|]*\| `([\d.]+)` \|", text).group(1))


def topics(root):
    """Keyed topics that have all lanes, topics of one partition, and topics of a worker without its tiers."""
    counts = [0, 0]
    for path in (root / "topics").glob("*.yaml"):
        counts[1 if re.search(r"^lanes: 1$", path.read_text(), re.MULTILINE) else 0] += 1
    own = [path for path in (root / "topics/workers").glob("*.yaml") if "{delay}" not in path.read_text()]
    return counts[0], counts[1], len(own)


def tables(root):
    """What stands between the marks of docs/sizing.md, by their names."""
    measured = Measured(root)
    deployments = [Deployment(count, measured) for count in SUBSCRIBERS]
    api, part = limits(root), share(root)
    hourly = {name: limit * part * 3_600 for name, limit in api.items()}
    full, single, own = topics(root)
    per_lane = own + TIERS

    measurements = table(["measured", ""], [
        ["requests a second, `millrace-ingress`, two cores shared with the cluster and the load generator",
         amount(measured.ingress, 4)],
        ["records of three tokens a second, one worker, the same two cores", amount(measured.worker, 4)],
        ["CPU time of a worker for such a record", f"{amount(measured.worker_micros, 3)} µs"],
        ["a worker at rest, its ledger empty", f"{amount(measured.base_mib)} MiB"],
        ["`millrace-ingress` under that load, at most", f"{amount(measured.ingress_mib)} MiB"],
        ["restoring a ledger, for each entry", f"{amount(measured.restore_micros)} µs"],
        ["the most that restoring a million entries adds, for each entry", f"{amount(measured.restore_bytes)} B"],
    ])

    traffic = by_subscribers(
        deployments,
        ("notifications a month", lambda d: amount(d.month)),
        ("a second, on average", lambda d: amount(d.mean)),
        (f"a second, at the busiest (× {PEAK})", lambda d: amount(d.peak)),
        (f"a second, during a mass extension of everybody told in {EXTENSION_HOURS} h", lambda d: amount(d.extension)),
        ("network into the ingress, then", lambda d: f"{size(d.extension * RECORD_BYTES)}/s"),
        ("cores for the ingress, then", lambda d: cores(d.ingress_cores)),
        ("cores for one worker that reads them all, then", lambda d: cores(d.worker_cores)),
    )
    kafka = by_subscribers(
        deployments,
        (f"30 days of notifications, {REPLICATION} replicas", lambda d: size(d.disk)),
        ("a month's traffic between brokers", lambda d: size(d.month * RECORD_BYTES * (REPLICATION - 1))),
        ("a day's backlog, one worker on two cores", lambda d: span(d.mean * 86_400 / measured.worker)),
        ("all 30 days again, one worker on two cores", lambda d: span(d.month / measured.worker)),
    )
    memory = by_subscribers(
        deployments,
        (f"notifications in {HORIZON_DAYS} days", lambda d: amount(d.ledger_entries)),
        ("and a mass extension within them", lambda d: amount(d.most_entries)),
        ("in memory then, over all replicas", lambda d: size(d.most_entries * LEDGER_BYTES)),
        ("while restored", lambda d: size(d.most_entries * measured.restore_bytes)),
        ("restored by one replica alone, in", lambda d: span(d.most_entries * measured.restore_micros / 1e6)),
    )
    apple = table(["endpoint", "Apple, a second", f"Millrace, an hour ({part:g})", "the sandbox, an hour"], [
        [title, amount(api[name]), amount(hourly[name], 4), amount(hourly[name] / 10, 4)]
        for title, name in (
            ("*Extend a Subscription Renewal Date*", "extendSubscriptionRenewalDate"),
            ("*Send Consumption Information*", "sendConsumptionInformation"),
            ("*Get Transaction Info*", "getTransactionInfo"),
            ("*Get All Subscription Statuses*", "getAllSubscriptionStatuses"),
            ("*Get Notification History*", "getNotificationHistory"),
            ("*Get Refund History*", "getRefundHistory"),
        )
    ])
    campaigns = by_subscribers(
        deployments,
        (f"failures of a mass extension ({FAILING * 100:.0f} %)", lambda d: amount(d.failing)),
        ("tried once each, in", lambda d: span(d.failing / hourly["extendSubscriptionRenewalDate"] * 3_600)),
    )
    receivers = by_subscribers(
        deployments,
        (f"posts at one time, at the busiest ({HANDLER_SECONDS:g} s each)",
         lambda d: amount(max(1, math.ceil(d.peak * HANDLER_SECONDS)))),
    )
    partitions = table(["workers", "12 lanes", "24 lanes", "48 lanes"], [
        [str(workers), *(amount((full + per_lane * workers) * lanes + single, 4) for lanes in (12, 24, 48))]
        for workers in (1, 3, 6)
    ])
    lanes = table([f"a lane of a worker with one family and {TIERS} tiers", "at most"], [
        ["read ahead by librdkafka", size(PREFETCH)],
        ["taken and waiting", size(HEAPS)],
        [f"all {LANES} lanes in one replica", size(LANES * (HEAPS + PREFETCH))],
    ])
    replicas = by_subscribers(
        deployments,
        ("`millrace-ingress`", lambda d: f"2 × {halves(d.ingress_cores)}, 256 MiB"),
        ("a worker of all families",
         lambda d: f"{d.replicas} × {halves(d.worker_cores / (d.replicas - 1))}, {memory_limit(d.replica_bytes)}"),
        ("disk, half as much again as above", lambda d: size(1.5 * d.disk)),
    )
    return {
        "measured": measurements, "traffic": traffic, "kafka": kafka, "memory": memory, "apple": apple,
        "campaigns": campaigns, "receivers": receivers, "partitions": partitions, "lanes": lanes, "replicas": replicas,
    }
