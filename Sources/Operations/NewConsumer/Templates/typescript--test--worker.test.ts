import assert from "node:assert/strict";
import { test } from "node:test";
import { decide, type Data } from "../source/worker.js";

function notification(type: string, subtype?: string, version: 1 | 2 = 2): Data {
  const transaction = { productId: "premium" };
  return { kind: "notification", key: "1", state: null, notification: { version, type, subtype, transaction } };
}

test("a subscriber who cancels causes one event", () => {
  const event = { name: "subscriber.left", data: { product: "premium" } };
  assert.deepEqual(decide(notification("EXPIRED", "VOLUNTARY")), { events: [event] });
});

test("everything else causes none", () => {
  const others: Data[] = [
    notification("EXPIRED", "BILLING_RETRY"),
    notification("DID_RENEW"),
    notification("EXPIRED", "VOLUNTARY", 1),
    { kind: "timer", key: "1", state: null },
  ];
  for (const other of others) assert.equal(decide(other), null);
});
