// The endpoint: verifies the signature of a request, asks the worker, and answers with its outcome. An exception in the
// worker becomes an answer 500, and Millrace sends the request again later.

import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { decide, type Data } from "./worker.js";

/** Reads the key of the signature. `whsec_` and Base64, or the text itself. */
export function readKey(file: string): Buffer {
  const secret = readFileSync(file, "utf8").trim();
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
  if (key.length === 0) throw new Error(`the secret ${file} is empty`);
  return key;
}

/** Verifies a signature by Standard Webhooks (standardwebhooks.com). Times more than five minutes away are refused. */
export function isGenuine(headers: IncomingHttpHeaders, body: Buffer, key: Buffer, now = Date.now()): boolean {
  const [id, time, signatures] = ["id", "timestamp", "signature"].map((name) => String(headers[`webhook-${name}`] ?? ""));
  if (!id || !/^\d{1,12}$/.test(time) || Math.abs(now / 1000 - Number(time)) > 300) return false;
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  return signatures.split(" ").some((signature) => {
    if (!signature.startsWith("v1,")) return false;
    const given = Buffer.from(signature.slice(3), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, secretFile: string): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  if (request.url !== "/notifications") return problem(response, 404, "no such path");
  if (request.method !== "POST") return problem(response, 405, "only POST is allowed");
  // Reads the secret for each request: it can be replaced while the process runs.
  if (!isGenuine(request.headers, body, readKey(secretFile))) {
    return problem(response, 401, "the signature is missing or wrong");
  }
  const data = parsed(body);
  if (data === null) return problem(response, 400, "the body is not a CloudEvent");
  const outcome = decide(data);
  if (outcome === null) response.writeHead(204).end();
  else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(outcome));
}

function parsed(body: Buffer): Data | null {
  try {
    return JSON.parse(body.toString("utf8"))?.data ?? null;
  } catch {
    return null;
  }
}

function problem(response: ServerResponse, status: number, title: string): void {
  response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify({ title, status }));
}

export function server(secretFile: string): Server {
  return createServer((request, response) => {
    answer(request, response, secretFile).catch((error: unknown) => {
      console.error(error);
      if (!response.headersSent) problem(response, 500, "the worker failed");
    });
  });
}
