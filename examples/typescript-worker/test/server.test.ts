import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isGenuine, readKey, server } from "../source/server.js";
import { decide } from "../source/worker.js";

const id = "0b5c1f0e-8f35-5a3b-9a5e-6f0d1d0e7c11";
const directory = mkdtempSync(join(tmpdir(), "worker-"));
const file = join(directory, "secret");
const running = server(file);
let url = "";

before(async () => {
  writeFileSync(file, "whsec_bWlsbHJhY2U=\n");
  await new Promise<void>((resolve) => running.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(running.address() as AddressInfo).port}/notifications`;
});
after(() => {
  running.close();
  running.closeAllConnections();
  rmSync(directory, { recursive: true });
});

function sign(body: string, key = "millrace", time = Math.floor(Date.now() / 1000)): Record<string, string> {
  const signature = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(time), "webhook-signature": `v1,${signature}` };
}
const post = (body: string, headers = sign(body)) => fetch(url, { method: "POST", body, headers });

const event = JSON.stringify({
  data: {
    kind: "notification", key: "1", state: null,
    notification: { version: 2, type: "EXPIRED", subtype: "VOLUNTARY", receivedAt: "2026-01-06T03:22:02Z" },
  },
});

test("a signed request is answered", async () => {
  const answer = await post(event);
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), decide(JSON.parse(event).data));
  assert.equal((await post(event.replace("EXPIRED", "TEST"))).status, 204);
});

test("a secret without prefix is its own key", () => {
  const text = join(directory, "text");
  writeFileSync(text, "millrace");
  assert.deepEqual(readKey(text), readKey(file));
});

test("during a rotation one valid signature is enough", async () => {
  const headers = sign(event);
  assert.equal((await post(event, { ...headers, "webhook-signature": `v1,AAAA ${headers["webhook-signature"]}` })).status, 200);
});

test("a wrong signature is refused", async () => {
  assert.equal((await post(event, {})).status, 401);
  assert.equal((await post(event, sign(event, "another"))).status, 401);
  assert.equal((await post(event, sign("{}"))).status, 401);
  for (const signature of ["", "v1", "v1,", "v1,AAAA", "v1,=", "v2,AAAA", "nonsense"]) {
    assert.equal((await post(event, { ...sign(event), "webhook-signature": signature })).status, 401, signature);
  }
});

test("an old time is refused", () => {
  const now = 1_767_669_722;
  const body = Buffer.from("{}");
  assert.ok(isGenuine(sign("{}", "millrace", now), body, readKey(file), (now + 299) * 1000));
  assert.ok(!isGenuine(sign("{}", "millrace", now), body, readKey(file), (now + 301) * 1000));
  assert.ok(!isGenuine(sign("{}", "millrace", now), body, readKey(file), (now - 301) * 1000));
});

test("a body that is no event is refused", async () => {
  for (const body of ["{", "{}", "[]", "1", "null"]) assert.equal((await post(body)).status, 400, body);
});

test("another path or method is refused", async () => {
  assert.equal((await fetch(url)).status, 405);
  assert.equal((await fetch(url + "/other", { method: "POST" })).status, 404);
});
