// Offers a subscriber who cancelled to come back, three days later and unless the subscriber has returned by then.

export type State = { left: string; product: string | null };
export type Notification = {
  version: 1 | 2; type?: string; subtype?: string; signedDate?: string; receivedAt: string;
  transaction?: { productId?: string };
};
export type Statuses = { data?: { lastTransactions?: { status?: number }[] }[] };
export type Result = { status: "succeeded"; body: object } | { status: "failed"; message: string };
export type Data = { key: string; state: State | null } & (
  | { kind: "notification"; notification: Notification }
  | { kind: "timer"; timer: { name: string } }
  | { kind: "call-result"; call: { name: string; result: Result } }
);

const threeDays = 3 * 24 * 60 * 60 * 1000;

/**
 * Returns the outcome of a request, or null if there is nothing to do. It depends on the request alone: a repeated
 * request has the same outcome.
 */
export function decide(data: Data): object | null {
  const state = data.state;
  if (data.kind === "notification") return notified(data.notification, state);
  if (state === null) return null; // The subscriber has returned.
  if (data.kind === "timer") {
    // The date makes the name unique: the same subscriber can leave again.
    const name = `status/${state.left}`;
    return { calls: [{ name, operation: "getAllSubscriptionStatuses", arguments: { transactionId: data.key } }] };
  }
  const result = data.call.result;
  if (result.status === "failed") {
    return { deadLetter: { reason: "apple-refused", detail: result.message.slice(0, 1000) } };
  }
  if (isActive(result.body)) return { state: null };
  return { events: [{ name: "winback.offered", data: { product: state.product } }], state: null };
}

function notified(notification: Notification, state: State | null): object | null {
  if (notification.version !== 2) return null; // Version 1 is not signed.
  const { type, subtype } = notification;
  const signed = notification.signedDate ?? notification.receivedAt;
  if (type === "EXPIRED" && subtype === "VOLUNTARY") {
    const offer = new Date(Date.parse(signed) + threeDays).toISOString();
    const product = notification.transaction?.productId ?? null;
    return { state: { left: signed, product }, timers: [{ name: "offer", at: offer }] };
  }
  // Apple may post out of order: only a renewal after the departure counts.
  if ((type === "DID_RENEW" || type === "SUBSCRIBED") && state && Date.parse(signed) > Date.parse(state.left)) {
    return { state: null, timers: [{ name: "offer", at: null }] };
  }
  return null;
}

/** Whether any subscription is active (1) or in its grace period (4). */
function isActive(statuses: Statuses): boolean {
  return (statuses.data ?? []).some((group) =>
    (group.lastTransactions ?? []).some((last) => last.status === 1 || last.status === 4));
}
