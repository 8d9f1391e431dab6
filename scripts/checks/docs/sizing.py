"""The tables of docs/sizing.md, computed from docs/performance.md, Apple's limits and the topic files.

The assumptions are constants here and appear on the page.
"""
import math
import re

SUBSCRIBERS = (10**5, 10**6, 10**7, 10**8)
SECONDS_A_MONTH = 30 * 86_400

# Assumptions. The first two are rounded up from what the page's own commands print.
NOTIFICATIONS = 1.1  # for each monthly subscriber and month
RECORD_BYTES = 20_000  # with key, headers and Kafka's own
PEAK = 10  # ratio of the busiest second to the mean
EXTENSION_HOURS = 6  # in which Apple sends the notifications of a mass extension
COMMANDS = 0.25  # share of an endpoint that workers leave to commands
FAILING = 0.05  # share of subscriptions whose extension fails
HANDLER_SECONDS = 0.2  # response time of a receiver
REPLICATION = 3

HORIZON_DAYS = 8  # ledgerHorizon
LEDGER_BYTES = 32  # upper bound of an entry in memory
SUBSCRIPTION_BYTES = 300  # upper bound of a subscription's state and timer in memory
SUBSCRIPTION_RECORDS = 1_200 + 450  # its row in appstore.subscriptions and its state in the ledger
STATE_BYTES = 250  # a refunded transaction in the refunds worker
RECORDS_IN_FLIGHT = 256
BYTES_IN_FLIGHT = 16 << 20
PREFETCH_BYTES = 1 << 20


LANES = 12
LARGEST_REPLICA = 4 << 30
TIERS = 5
# The worst case of records in memory for a lane of a worker with one family: one heap for taken records and one for
# each retry topic, and librdkafka's prefetch for the family, each retry topic and the replay topic.
HEAPS = (1 + TIERS) * min(BYTES_IN_FLIGHT, RECORDS_IN_FLIGHT * RECORD_BYTES)
PREFETCH = (1 + TIERS + 1) * PREFETCH_BYTES


def cells(performance, row):
    """The figures of the first table row of docs/performance.md that begins with this text."""
    for line in performance.splitlines():
        if line.startswith(f"| {row}"):
            return [number(cell) for cell in line.strip("| ").split("|")[1:] if cell.strip()]
    raise SystemExit(f"docs/performance.md has no row of figures that begins with: {row}")


def number(text):
    return float(re.sub(r"[^\d.]", "", text))


class Measured:
    """What `scripts/bench` printed."""

    def __init__(self, root):
        performance = (root / "docs/performance.md").read_text()
        ingress = cells(performance, "(b) `millrace-ingress`")
        self.ingress, self.ingress_mib = ingress[0], ingress[3]
        verified = cells(performance, "19 214 bytes, verified")
        self.worker, self.worker_micros = verified[1], verified[3]
        least, shortest, self.base_mib = cells(performance, "12 lanes | 10 000 ")
        # The entries of a smaller and a larger ledger, and for each entry the seconds and the bytes at the peak.
        self.restores = [
            (entries, (seconds - shortest) / (entries - least), (peak - self.base_mib) * (1 << 20) / (entries - least))
            for entries, seconds, peak in (cells(performance, f"12 lanes | {n} ") for n in ("1 000 000", "10 000 000"))
        ]

    def restore(self, entries):
        """The seconds and the peak bytes to restore so many entries: as the smaller ledger up to its size, because it took
        more for each entry, and as the larger one where that is more."""
        (few, *most), (_, *least) = self.restores
        return [max(min(entries, few) * small, entries * large) for small, large in zip(most, least)]


class Deployment:
    """The figures for a number of subscribers."""

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
        # The worst case that the other replicas hold while one is down, without the base memory of each.
        base = measured.base_mib * (1 << 20)
        self.restore_seconds, self.restore_bytes = measured.restore(self.most_entries)
        held = max(self.restore_bytes, self.most_entries * LEDGER_BYTES) + LANES * (HEAPS + PREFETCH)
        self.replicas = max(2, 1 + math.ceil(held / (LARGEST_REPLICA - base)))
        self.replica_bytes = base + held / (self.replicas - 1)


def amount(value, digits=2):
    """The value with at most `digits` significant digits, with thin thousands as docs/performance.md has them."""
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
    """Topics that have all lanes, partitions of those that do not, and topics of a worker without its retry topics."""
    counts = [0, 0]
    for path in (root / "topics").glob("*.yaml"):
        lanes = re.search(r"^lanes: (\d+)$", path.read_text(), re.MULTILINE)
        counts[1 if lanes else 0] += int(lanes.group(1)) if lanes else 1
    own = [path for path in (root / "topics/workers").glob("*.yaml") if "{delay}" not in path.read_text()]
    return counts[0], counts[1], len(own)


def tables(root):
    """The generated parts of docs/sizing.md, by the names of their marks."""
    measured = Measured(root)
    deployments = [Deployment(count, measured) for count in SUBSCRIBERS]
    api, part = limits(root), share(root)
    hourly = {name: limit * part * 3_600 for name, limit in api.items()}
    full, single, own = topics(root)
    per_lane = own + TIERS

    measurements = table(["measured", ""], [
        ["requests per second, `millrace-ingress`, two cores shared with the cluster and the load generator",
         amount(measured.ingress, 4)],
        ["records of three tokens per second, one worker, the same two cores", amount(measured.worker, 4)],
        ["CPU time of a worker for such a record", f"{amount(measured.worker_micros, 3)} µs"],
        ["memory of an idle worker with 10 000 entries in its ledger", f"{amount(measured.base_mib)} MiB"],
        ["peak memory of `millrace-ingress` under that load", f"{amount(measured.ingress_mib)} MiB"],
        *([f"to restore a ledger of {amount(entries)} entries, per entry",
           f"{amount(seconds * 1e6)} µs, {amount(peak)} B at the peak"] for entries, seconds, peak in measured.restores),
    ])

    traffic = by_subscribers(
        deployments,
        ("notifications per month", lambda d: amount(d.month)),
        ("per second, average", lambda d: amount(d.mean)),
        (f"per second, peak (× {PEAK})", lambda d: amount(d.peak)),
        (f"per second, mass extension of all subscribers within {EXTENSION_HOURS} h", lambda d: amount(d.extension)),
        ("network into the ingress during the extension", lambda d: f"{size(d.extension * RECORD_BYTES)}/s"),
        ("cores for the ingress during the extension", lambda d: cores(d.ingress_cores)),
        ("cores for one worker of all families during the extension", lambda d: cores(d.worker_cores)),
    )
    kafka = by_subscribers(
        deployments,
        (f"30 days of notifications, {REPLICATION} replicas", lambda d: size(d.disk)),
        ("traffic between brokers per month", lambda d: size(d.month * RECORD_BYTES * (REPLICATION - 1))),
        ("time for a day's backlog, one worker on two cores", lambda d: span(d.mean * 86_400 / measured.worker)),
        ("time for all 30 days, one worker on two cores", lambda d: span(d.month / measured.worker)),
    )
    memory = by_subscribers(
        deployments,
        (f"notifications in {HORIZON_DAYS} days", lambda d: amount(d.ledger_entries)),
        ("the same with a mass extension", lambda d: amount(d.most_entries)),
        ("ledger in memory, all replicas together", lambda d: size(d.most_entries * LEDGER_BYTES)),
        ("peak memory while it is restored", lambda d: size(d.restore_bytes)),
        ("time to restore it in one replica", lambda d: span(d.restore_seconds)),
    )
    apple = table(["endpoint", "Apple, per second", f"Millrace, per hour ({part:g})", "sandbox, per hour"], [
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
        ("time to try each once", lambda d: span(d.failing / hourly["extendSubscriptionRenewalDate"] * 3_600)),
    )
    receivers = by_subscribers(
        deployments,
        (f"concurrent posts at the peak ({HANDLER_SECONDS:g} s each)",
         lambda d: amount(max(1, math.ceil(d.peak * HANDLER_SECONDS)))),
    )
    partitions = table(["workers", "4 lanes", "12 lanes", "24 lanes", "48 lanes"], [
        [str(workers), *(amount((full + per_lane * workers) * lanes + single, 4) for lanes in (4, 12, 24, 48))]
        for workers in (1, 3, 6)
    ])
    base = measured.base_mib * (1 << 20) + LANES * (HEAPS + PREFETCH)
    each = SUBSCRIPTION_BYTES + LEDGER_BYTES * NOTIFICATIONS * HORIZON_DAYS / 30
    subscriptions = table(["subscribers", "5 million", "50 million"], [
        [name, *(figure(count) for count in (5_000_000, 50_000_000))]
        for name, figure in (
            ("states and timers in memory, all replicas together", lambda count: size(count * SUBSCRIPTION_BYTES)),
            (f"replicas of at most {LARGEST_REPLICA >> 30} GiB, if one may be down",
             lambda count: str(1 + max(1, math.ceil(count * each / (LARGEST_REPLICA - base))))),
            (f"`appstore.subscriptions` and the ledger on disk, {REPLICATION} replicas",
             lambda count: size(count * SUBSCRIPTION_RECORDS * REPLICATION)),
            ("calls to Apple per day, if 1 % of the ends are not explained",
             lambda count: amount(count * 0.01 / 30)),
            ("days to import all of them, one call each, as the only worker",
             lambda count: amount(count / (hourly["getAllSubscriptionStatuses"] * (1 - COMMANDS) * 24))),
            ("the same beside `renewal-extensions`",
             lambda count: amount(count / (hourly["getAllSubscriptionStatuses"] * (1 - COMMANDS) / 2 * 24))),
            ("partitions that each further worker adds, with 4 lanes", lambda _: amount(per_lane * 4, 4)),
            ("the same with 12 lanes", lambda _: amount(per_lane * 12, 4)),
            ("the same with 48 lanes", lambda _: amount(per_lane * 48, 4)),
        )
    ])
    lanes = table([f"a lane of a worker with one family and {TIERS} retry topics", "at most"], [
        ["read ahead by librdkafka", size(PREFETCH)],
        ["taken and waiting in memory", size(HEAPS)],
        [f"all {LANES} lanes in one replica", size(LANES * (HEAPS + PREFETCH))],
    ])
    replicas = by_subscribers(
        deployments,
        ("`millrace-ingress`", lambda d: f"2 × {halves(d.ingress_cores)}, 256 MiB"),
        ("a worker of all families",
         lambda d: f"{d.replicas} × {halves(d.worker_cores / (d.replicas - 1))}, {memory_limit(d.replica_bytes)}"),
        ("disk, 1.5 times the figure above", lambda d: size(1.5 * d.disk)),
    )
    return {
        "measured": measurements, "traffic": traffic, "kafka": kafka, "memory": memory, "apple": apple,
        "campaigns": campaigns, "receivers": receivers, "partitions": partitions, "lanes": lanes,
        "subscriptions": subscriptions, "replicas": replicas,
    }
