"""Compares an adopted mass extension with the notifications and answers of the simulator.

usage: extensions.py DIRECTORY PRODUCT

DIRECTORY has sent.jsonl (the simulator's delivery attempts), report.json (its report), extension-events (the records of
appstore.events.renewal-extensions as `kcat -J` prints them) and campaign.json (`millrace campaigns show --json`). PRODUCT is
the product that nothing else extends. Writes the subscriptions that a retry extended to extended.txt.
"""

import base64
import collections
import json
import pathlib
import sys

# Rules of the simulator about extensions.
RULES = {"effectRepeated", "requestIdentifierReused"}


def payload(token):
    text = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def notifications(text, product):
    """Returns the failures and the extensions of the product: by subscription, whether each notification arrived."""
    failures, extensions = collections.defaultdict(dict), collections.defaultdict(dict)
    for line in text.splitlines(keepends=True):
        # The simulator is still writing the last line.
        if not line.endswith("\n") or '"RENEWAL_EXTEN' not in line:
            continue
        attempt = json.loads(line)
        outer = payload(json.loads(attempt["body"])["signedPayload"])
        token = outer.get("data", {}).get("signedTransactionInfo")
        transaction = payload(token) if token else {}
        if transaction.get("productId") != product:
            continue
        found = extensions if outer["notificationType"] == "RENEWAL_EXTENDED" else failures
        arrived = found[transaction["originalTransactionId"]]
        id = attempt["notificationUUID"]
        arrived[id] = arrived.get(id, False) or attempt.get("status") == 200
    return failures, extensions


def outcomes(text, campaign):
    """Returns the subscriptions of each event of the campaign, and Apple's code of each refusal."""
    events, codes = collections.defaultdict(set), {}
    for line in text.splitlines():
        event = json.loads(json.loads(line)["payload"])
        headers = json.loads(line)["headers"]
        name = headers[headers.index("ce_type") + 1].rsplit(".", 1)[-1]
        if event.get("campaign") != campaign or "originalTransactionId" not in event:
            continue
        events[name].add(event["originalTransactionId"])
        if name == "refused":
            codes[event["originalTransactionId"]] = str(event.get("code"))
    return events, collections.Counter(codes.values())


def main(directory, product):
    place = pathlib.Path(directory)
    campaign = json.loads((place / "campaign.json").read_text())
    report = json.loads((place / "report.json").read_text())
    failures, extensions = notifications((place / "sent.jsonl").read_text(), product)
    events, codes = outcomes((place / "extension-events").read_text(), campaign["campaign"])
    failed, applied = set(failures), events["applied"]
    answers = next((asked for asked in report["asked"] if asked["endpoint"] == "extendSubscriptionRenewalDate"), {})
    progress, completion = campaign["progress"], campaign.get("completion") or {}
    extended = {id for id in failed if extensions.get(id)}

    problems = []

    def same(what, ours, apples):
        if ours != apples:
            problems.append(f"{what}: {ours}, and {apples} at Apple")

    same("extended more than once", sorted(id for id, sent in extensions.items() if len(sent) > 1), [])
    same("extended by a retry", sorted(applied), sorted(extended))
    same("without a result", sorted(failed - applied - events["refused"]), [])
    for code, count in codes.items():
        if answers.get("byErrorCode", {}).get(code, 0) < count:
            problems.append(f"{count} refusals with {code}, of which Apple sent {answers}")
    same("broken rules", sorted({rule["rule"] for rule in report["rulesBroken"]} & RULES), [])
    same("failures of the campaign", progress["failures"], len(failed))
    same("failures that Apple counted", completion.get("failed"), len(failed))
    same("extensions that Apple counted", completion.get("succeeded"), len(extensions) - len(extended))
    same("retries that succeeded", progress["applied"], len(extended))
    same("retries that Apple refused", sum(progress["refused"].values()), len(failed) - len(extended))
    for name in ("unclear", "withheld", "waiting"):
        same(name, progress[name], 0)
    if progress["extended"] > len(extensions) - len(extended):
        problems.append(f"{progress['extended']} extensions reported, more than Apple sent")
    if len(extended) < 5:
        problems.append(f"{len(extended)} extended by a retry are too few to mean anything")
    if problems:
        sys.exit("\n".join(f"      {problem}" for problem in problems))

    late = sum(not any(arrived.values()) for arrived in failures.values())
    refused = ", ".join(f"{reason} {count}" for reason, count in progress["refused"].items())
    print(f"    Apple extended {len(extensions) - len(extended)} and failed for {len(failed)}; {late} of the failures were lost")
    print(f"    a retry extended {len(extended)} of them, each once; refused: {refused or 'none'}")
    (place / "extended.txt").write_text("".join(f"{id}\n" for id in sorted(extended)))


main(*sys.argv[1:])
