package worker;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.Test;

public class WorkerTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static JsonNode json(String text) throws Exception {
    return JSON.readTree(text.replace('\'', '"'));
  }

  private static JsonNode notification(int version, String type, String subtype) throws Exception {
    return json("{'kind': 'notification', 'key': '1', 'state': null, 'notification': {'version': " + version
        + ", 'type': '" + type + "', 'subtype': '" + subtype + "', 'transaction': {'productId': 'premium'}}}");
  }

  @Test public void aSubscriberWhoCancelsCausesOneEvent() throws Exception {
    assertEquals(json("{'events': [{'name': 'subscriber.left', 'data': {'product': 'premium'}}]}"),
        Worker.decide(notification(2, "EXPIRED", "VOLUNTARY")));
  }

  @Test public void everythingElseCausesNone() throws Exception {
    assertNull(Worker.decide(notification(2, "EXPIRED", "BILLING_RETRY")));
    assertNull(Worker.decide(notification(2, "DID_RENEW", "")));
    assertNull(Worker.decide(notification(1, "EXPIRED", "VOLUNTARY")));
    assertNull(Worker.decide(json("{'kind': 'timer', 'key': '1', 'state': null, 'timer': {'name': 'unknown'}}")));
  }
}
