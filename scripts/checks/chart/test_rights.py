"""The table of rights in docs/threat-model.md agrees with the topics in the code."""

import fnmatch
import re
import subprocess

import pytest

from places import ROOT, TOPICS
from test_agreement import BIN
from test_deployments import shipped

PAGE = (ROOT / "docs" / "threat-model.md").read_text()
SOURCES = ROOT / "Sources"

# The code of each process. A built-in worker has the rights of its own row and of the row for every worker.
FOLDERS = {
    "`millrace-ingress`": ["Ingress"],
    "every worker": ["MillraceRecords/Topics/WorkerTopics.swift"]
    + [f"MillraceWorker/{path.name}" for path in (SOURCES / "MillraceWorker").iterdir() if path.name != "API"],
    "`millrace-subscriptions` besides": ["Subscriptions/SubscriptionsWorker.swift"],
    "`millrace-refunds` besides": ["Refunds/RefundsWorker.swift", "Refunds/RefundEvents.swift"],
    "`millrace-decoder` besides": ["Decoder/DecoderWorker.swift"],
    "`millrace-renewal-extensions` besides": ["RenewalExtensions"],
    "`millrace-consumption` besides": ["Consumption"],
    "`millrace-console`": ["Console/Tables", "Console/Actions", "Console/Reading"],
    "`millrace backfill`": ["Operations/Backfill"],
    "`millrace listen`": ["Operations/Listen"],
    "`millrace quarantine`": ["Operations/Quarantine"],
    "`millrace dead-letters`": ["Operations/Workers"],
    "`millrace replay`": ["Operations/Replay"],
    "`millrace campaigns`": ["Operations/Campaigns"],
    "`millrace timeline`": ["Operations/Customers"],
    "`millrace refunds`": ["Refunds/Check"],
    "`millrace subscriptions`": ["Subscriptions/Commands", "Operations/Customers"],
    "`millrace privacy`": ["Operations/Privacy/CustomerErasure.swift", "Operations/Privacy/ErasedCustomers.swift"],
    "`millrace doctor`": ["Operations/Doctor"],
    "`millrace webhooks`": ["Operations/Webhooks"],
}
# Expressions that read or write a topic without naming it.
BEHIND = {
    "AuditLog(": "millrace.audit",
    "topics.operations": "millrace.operations",
    "foundRefunds": "appstore.transactions.refunds",
    "subscriptionImports": "millrace.subscription-imports",
    "subscriptionsTopic": "appstore.subscriptions",
    "purchasesTopic": "appstore.purchases",
    "notificationsTopic": "appstore.decoded.notifications",
    "transactionsTopic": "appstore.decoded.transactions",
}


def section():
    return PAGE.split("### What each process may do in Kafka")[1].split("\n## ")[0]


def rows():
    """[process, reads, writes, reads settings of, groups and ids] of each row."""
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in cells] for cells in found[1:]]


def row(process):
    (found,) = [one for one in rows() if one[0].startswith(process)]
    return found


def topics(cell):
    """The topics in a cell, as patterns."""
    return [
        re.sub("<[a-z]+>", "*", name)
        for name in re.findall("`([^`]+)`", cell)
        if name.startswith(("appstore.", "millrace."))
    ]


def admits(cell, topic):
    return any(fnmatch.fnmatch(topic, pattern) for pattern in topics(cell))


def files(places):
    for place in places:
        path = SOURCES / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.swift"))


def constants():
    """Topics by the expressions that name them: `AuditRecord.topic` → millrace.audit."""
    found = {}
    for path in SOURCES.rglob("*.swift"):
        text = path.read_text()
        for match in re.finditer(r'static let (\w*[tT]opic) = "((?:appstore|millrace)\.[a-z.-]+)"', text):
            # Any of the preceding types may contain the constant; their names are unique.
            for name in re.findall(r"\b(?:struct|enum|class|extension) (\w+)", text[: match.start()]):
                found[f"{name}.{match[1]}"] = match[2]
    return found


def named(text):
    """The topics in a piece of code."""
    known = {path.stem for path in TOPICS.glob("*.yaml")}
    result = {topic for expression, topic in CONSTANTS.items() if re.search(rf"\b{re.escape(expression)}\b", text)}
    result |= {topic for word, topic in BEHIND.items() if word in text}
    return result | {literal for literal in re.findall(r'"([a-z]+\.[a-z.-]+)"', text) if literal in known}


CONSTANTS = constants()


def test_the_topic_constants_are_found():
    assert {"AuditRecord.topic", "WorkerTopics.controlTopic", "CampaignRecord.topic", "QuarantineRecord.topic"} <= set(
        CONSTANTS
    )
    assert set(CONSTANTS.values()) <= {path.stem for path in TOPICS.glob("*.yaml")} | {
        "appstore.notifications.subscriptions"
    }


@pytest.mark.parametrize("process", FOLDERS)
def test_a_process_has_a_right_to_every_topic_in_its_code(process):
    found = {topic for path in files(FOLDERS[process]) for topic in named(path.read_text())}
    cells = " ".join(row(process)[1:3] + (row("every worker")[1:3] if process.endswith("besides") else []))
    assert {topic for topic in found if not admits(cells, topic)} == set()
    assert found


def test_processes_with_an_audit_log_may_write_its_topic():
    for process, places in FOLDERS.items():
        if any(re.search(r"AuditLog\(on", path.read_text()) for path in files(places)):
            assert admits(row(process)[2], "millrace.audit"), process


def test_a_worker_may_write_all_topics_of_its_lanes():
    """Takes the topics from the properties of WorkerTopics."""
    text = (SOURCES / "MillraceRecords/Topics/WorkerTopics.swift").read_text()
    names = {"own": "millrace.w."}
    for name, value in re.findall(r"^    (?:let )?(\w+) = (.+)$", text, re.MULTILINE):
        value = (
            value.replace("Self.", "WorkerTopics.")
            .replace("\\(prefix)", "")
            .replace("\\(worker)", "w")
            .removeprefix("prefix + ")
        )
        if value.startswith("own + "):
            names[name] = names["own"] + value.removeprefix("own + ").strip('"')
        elif value in CONSTANTS:
            names[name] = CONSTANTS[value]
        elif value.startswith('"'):
            names[name] = value.strip('"')
    others = re.search(r"public var others: \[String\] \{ \[(.+)\] \}", text)[1].split(", ")
    assert len(others) == 4
    _, reads, writes, _, groups = row("every worker")
    for name in [*others, "replay", "deadLetters", "ledger"]:
        assert admits(writes, names[name]), name
    for name in ["operations", "control", "replay", "deadLetters", "ledger"]:
        assert admits(reads, names[name]), name
    assert f"`{names['group'].replace('.w', '.<worker>')}`" in groups
    # The lane writes the audit record of a completed replay in its transaction.
    assert "step.notes = [record.producerRecord" in (SOURCES / "MillraceWorker/Replay/LaneReplay.swift").read_text()


def test_workers_may_write_their_tables():
    for path in SOURCES.glob("*/*Worker.swift"):
        text = path.read_text()
        name = re.search(r'static let name = "([a-z-]+)"', text)
        tables = re.search(r"static let outputTopics: Set<String> = \[(.+?)\]", text)
        if name and tables:
            for table in tables[1].split(", "):
                # The worker's code uses its own constants without their type.
                own = f".{table}"
                topic = CONSTANTS.get(table) or next(topic for key, topic in CONSTANTS.items() if key.endswith(own))
                assert admits(row(f"`millrace-{name[1]}` besides")[2], topic), topic


def test_every_transactional_id_is_listed():
    found = []
    for path in SOURCES.rglob("*.swift"):
        written = r"(?:makeTransactionalWriter\(\s*id: |\btransactionalID: String \{ )\"([^\"]+)\""
        for match in re.finditer(written, path.read_text()):
            own = match[1].replace("\\(topics.group)", "millrace.<worker>").replace("\\(prefix)", "")
            found.append(own.split("\\(")[0])
    assert sorted(found) == ["millrace.<worker>.", "millrace.replay."]
    stated = {name for one in rows() for name in re.findall(r"begin with `([^`]+)`", one[4])}
    assert stated == set(found)


def test_every_program_and_every_command_is_listed():
    _, _, text = subprocess.run(
        [BIN / "millrace", "--help"], capture_output=True, text=True, check=True
    ).stdout.partition("SUBCOMMANDS:")
    commands = set(re.findall(r"^  ([a-z][a-z-]*)", text, re.MULTILINE))
    first = " ".join(one[0] for one in rows())
    stated = set(re.findall(r"`(millrace-[a-z-]+)`", first))
    assert stated == shipped()
    with_rights = set(re.findall(r"`millrace ([a-z-]+)`", first))
    sentence = re.search(r"^`millrace verify`.+?Kafka\.$", section(), re.MULTILINE | re.DOTALL)[0]
    without = set(re.findall(r"`(?:millrace )?([a-z-]+)`", sentence))
    assert with_rights | without == commands
    assert not with_rights & without


def test_every_topic_has_a_writer_and_a_reader():
    for path in TOPICS.glob("*.yaml"):
        assert any(admits(one[1], path.stem) for one in rows()), f"no process reads {path.stem}"
        assert any(admits(one[2], path.stem) for one in rows()), f"no process writes {path.stem}"


def test_a_missing_right_is_found():
    """The regression that these tests prevent: the table lacked the worker's right to write the audit log."""
    assert not admits("`millrace.<worker>.*`, `millrace.operations`", "millrace.audit")
    assert admits("`millrace.<worker>.*`, `millrace.audit`", "millrace.audit")
    assert "millrace.audit" in named("try await AuditLog(on: log, prefix: prefix).append([])")
