package worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Publishes an event for each subscriber who cancelled, for example to send a win-back offer. */
final class Worker {
  /**
   * Returns the outcome of a request, or null if there is nothing to do. It depends on the request alone: a repeated
   * request has the same outcome.
   */
  static ObjectNode decide(JsonNode data) {
    // The worker sets no timers and makes no calls.
    if (!data.path("kind").asText().equals("notification")) return null;
    var notification = data.path("notification");
    if (notification.path("version").asInt() != 2) return null; // Version 1 is not signed.
    var event = notification.path("type").asText() + " " + notification.path("subtype").asText();
    if (!event.equals("EXPIRED VOLUNTARY")) return null;
    var outcome = JsonNodeFactory.instance.objectNode();
    outcome.putArray("events").addObject().put("name", "subscriber.left")
        .putObject("data").put("product", notification.path("transaction").path("productId").asText(null));
    return outcome;
  }

  private Worker() {}
}
