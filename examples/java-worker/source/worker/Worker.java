package worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;

/** Offers a subscriber who cancelled to come back, three days later and unless the subscriber has returned by then. */
final class Worker {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /**
   * Returns the outcome of a request, or null if there is nothing to do. It depends on the request alone: a repeated
   * request has the same outcome.
   */
  static ObjectNode decide(JsonNode data) {
    var state = data.path("state");
    if (data.path("kind").asText().equals("notification")) return notified(data.path("notification"), state);
    if (!state.isObject()) return null; // The subscriber has returned.
    if (data.path("kind").asText().equals("timer")) {
      var outcome = JSON.objectNode();
      // The date makes the name unique: the same subscriber can leave again.
      outcome.putArray("calls").addObject()
          .put("name", "status/" + state.path("left").asText())
          .put("operation", "getAllSubscriptionStatuses")
          .putObject("arguments").set("transactionId", data.path("key"));
      return outcome;
    }
    var outcome = JSON.objectNode();
    var result = data.path("call").path("result");
    if (result.path("status").asText().equals("failed")) {
      var message = result.path("message").asText();
      outcome.putObject("deadLetter").put("reason", "apple-refused")
          .put("detail", message.substring(0, Math.min(1000, message.length())));
      return outcome;
    }
    outcome.putNull("state");
    if (!isActive(result.path("body"))) {
      outcome.putArray("events").addObject().put("name", "winback.offered")
          .putObject("data").set("product", state.path("product"));
    }
    return outcome;
  }

  private static ObjectNode notified(JsonNode notification, JsonNode state) {
    if (notification.path("version").asInt() != 2) return null; // Version 1 is not signed.
    var type = notification.path("type").asText();
    var signed = notification.path(notification.has("signedDate") ? "signedDate" : "receivedAt").asText();
    var outcome = JSON.objectNode();
    if (type.equals("EXPIRED") && notification.path("subtype").asText().equals("VOLUNTARY")) {
      var product = notification.path("transaction").path("productId").asText(null);
      outcome.putObject("state").put("left", signed).put("product", product);
      outcome.putArray("timers").addObject().put("name", "offer")
          .put("at", Instant.parse(signed).plus(Duration.ofDays(3)).toString());
      return outcome;
    }
    // Apple may post out of order: only a renewal after the departure counts.
    if ((type.equals("DID_RENEW") || type.equals("SUBSCRIBED")) && state.isObject()
        && Instant.parse(signed).isAfter(Instant.parse(state.path("left").asText()))) {
      outcome.putNull("state").putArray("timers").addObject().put("name", "offer").putNull("at");
      return outcome;
    }
    return null;
  }

  /** Whether any subscription is active (1) or in its grace period (4). */
  private static boolean isActive(JsonNode statuses) {
    for (var group : statuses.path("data")) {
      for (var last : group.path("lastTransactions")) {
        var status = last.path("status").asInt();
        if (status == 1 || status == 4) return true;
      }
    }
    return false;
  }

  private Worker() {}
}
