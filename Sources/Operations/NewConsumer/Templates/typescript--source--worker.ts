// Publishes an event for each subscriber who cancelled, for example to send a win-back offer.

export type Notification = {
  version: 1 | 2; type?: string; subtype?: string; transaction?: { productId?: string };
};
export type Data = { key: string; state: unknown } & (
  | { kind: "notification"; notification: Notification }
  | { kind: "timer" | "call-result" }
);

/**
 * Returns the outcome of a request, or null if there is nothing to do. It depends on the request alone: a repeated
 * request has the same outcome.
 */
export function decide(data: Data): object | null {
  if (data.kind !== "notification") return null; // The worker sets no timers and makes no calls.
  const { version, type, subtype, transaction } = data.notification;
  if (version !== 2) return null; // Version 1 is not signed.
  if (type !== "EXPIRED" || subtype !== "VOLUNTARY") return null;
  return { events: [{ name: "subscriber.left", data: { product: transaction?.productId ?? null } }] };
}
