import assert from "node:assert/strict";
import { test } from "node:test";
import { decide, type Data, type State } from "../source/worker.js";

const key = "2000000100000918";
const left = "2026-01-06T03:22:02.114Z";
const state: State = { left, product: "premium" };

function notification(type: string, subtype?: string, signedDate = left, state: State | null = null, version: 1 | 2 = 2): Data {
  const transaction = { productId: "premium" };
  return {
    kind: "notification", key, state,
    notification: { version, type, subtype, signedDate, receivedAt: signedDate, transaction },
  };
}

function callResult(statuses: number[], current: State | null = state): Data {
  const body = { data: [{ lastTransactions: statuses.map((status) => ({ status })) }] };
  return { kind: "call-result", key, state: current, call: { name: "status", result: { status: "succeeded", body } } };
}

test("a cancelled subscription sets a timer for three days later", () => {
  assert.deepEqual(decide(notification("EXPIRED", "VOLUNTARY")), {
    state, timers: [{ name: "offer", at: "2026-01-09T03:22:02.114Z" }],
  });
});

for (const type of ["DID_RENEW", "SUBSCRIBED"]) {
  test(`${type} cancels the timer`, () => {
    assert.deepEqual(decide(notification(type, undefined, "2026-01-07T00:00:00Z", state)), {
      state: null, timers: [{ name: "offer", at: null }],
    });
  });
}

test("everything else changes nothing", () => {
  const others: Data[] = [
    notification("EXPIRED", "BILLING_RETRY"),
    notification("DID_RENEW"),
    notification("DID_RENEW", undefined, "2026-01-05T00:00:00Z", state),
    notification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", left, state),
    notification("DID_RENEW", undefined, "2026-01-07T00:00:00Z", state, 1),
    { kind: "timer", key, state: null, timer: { name: "offer" } },
    callResult([2], null),
  ];
  for (const other of others) assert.equal(decide(other), null);
});

test("the timer asks Apple", () => {
  const call = { name: `status/${left}`, operation: "getAllSubscriptionStatuses", arguments: { transactionId: key } };
  assert.deepEqual(decide({ kind: "timer", key, state, timer: { name: "offer" } }), { calls: [call] });
});

test("an expired subscription gets an offer", () => {
  const event = { name: "winback.offered", data: { product: "premium" } };
  assert.deepEqual(decide(callResult([2, 5])), { events: [event], state: null });
});

for (const status of [1, 4]) {
  test(`a subscription with status ${status} gets none`, () => {
    assert.deepEqual(decide(callResult([2, status])), { state: null });
  });
}

test("a refused call is a dead letter", () => {
  const message = "Transaction id not found.";
  const call = { name: "status", result: { status: "failed" as const, message } };
  assert.deepEqual(decide({ kind: "call-result", key, state, call }), {
    deadLetter: { reason: "apple-refused", detail: message },
  });
});
