package worker;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.Test;

public class WorkerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String STATE = "{'left': '2026-01-06T03:22:02.114Z', 'product': 'premium'}";

  private static JsonNode json(String text) throws Exception {
    return JSON.readTree(text.replace('\'', '"'));
  }

  private static JsonNode request(String state, String members) throws Exception {
    return json("{'key': '2000000100000918', 'state': " + state + ", " + members + "}");
  }

  private static JsonNode notification(String type, String subtype, String signed, String state) throws Exception {
    return request(state, "'kind': 'notification', 'notification': {'version': 2, 'type': '" + type + "', 'subtype': '"
        + subtype + "', 'signedDate': '" + signed + "', 'transaction': {'productId': 'premium'}}");
  }

  private static JsonNode callResult(int status, String state) throws Exception {
    return request(state, "'kind': 'call-result', 'call': {'result': {'status': 'succeeded', 'body': "
        + "{'data': [{'lastTransactions': [{'status': 2}, {'status': " + status + "}]}]}}}");
  }

  private static void expect(String outcome, JsonNode data) throws Exception {
    assertEquals(json(outcome), Worker.decide(data));
  }

  @Test public void aCancelledSubscriptionSetsATimerForThreeDaysLater() throws Exception {
    expect("{'state': " + STATE + ", 'timers': [{'name': 'offer', 'at': '2026-01-09T03:22:02.114Z'}]}",
        notification("EXPIRED", "VOLUNTARY", "2026-01-06T03:22:02.114Z", "null"));
  }

  @Test public void aReturnCancelsTheTimer() throws Exception {
    for (var type : new String[] {"DID_RENEW", "SUBSCRIBED"}) {
      expect("{'state': null, 'timers': [{'name': 'offer', 'at': null}]}",
          notification(type, "", "2026-01-07T00:00:00Z", STATE));
    }
  }

  @Test public void everythingElseChangesNothing() throws Exception {
    assertNull(Worker.decide(notification("EXPIRED", "BILLING_RETRY", "2026-01-06T00:00:00Z", "null")));
    assertNull(Worker.decide(notification("DID_RENEW", "", "2026-01-06T00:00:00Z", "null")));
    assertNull(Worker.decide(notification("DID_RENEW", "", "2026-01-05T00:00:00Z", STATE)));
    assertNull(Worker.decide(notification("TEST", "", "2026-01-07T00:00:00Z", STATE)));
    assertNull(Worker.decide(request(STATE, "'kind': 'notification', 'notification': {'version': 1, "
        + "'type': 'DID_RENEW', 'receivedAt': '2026-01-07T00:00:00Z'}")));
    assertNull(Worker.decide(request("null", "'kind': 'timer', 'timer': {'name': 'offer'}")));
    assertNull(Worker.decide(callResult(2, "null")));
  }

  @Test public void theTimerAsksApple() throws Exception {
    expect("{'calls': [{'name': 'status/2026-01-06T03:22:02.114Z', 'operation': 'getAllSubscriptionStatuses', "
        + "'arguments': {'transactionId': '2000000100000918'}}]}",
        request(STATE, "'kind': 'timer', 'timer': {'name': 'offer'}"));
  }

  @Test public void anExpiredSubscriptionGetsAnOffer() throws Exception {
    expect("{'events': [{'name': 'winback.offered', 'data': {'product': 'premium'}}], 'state': null}",
        callResult(5, STATE));
  }

  @Test public void anActiveSubscriptionGetsNone() throws Exception {
    expect("{'state': null}", callResult(1, STATE));
    expect("{'state': null}", callResult(4, STATE));
  }

  @Test public void aRefusedCallIsADeadLetter() throws Exception {
    expect("{'deadLetter': {'reason': 'apple-refused', 'detail': 'Transaction id not found.'}}",
        request(STATE, "'kind': 'call-result', 'call': {'result': {'status': 'failed', "
            + "'message': 'Transaction id not found.'}}"));
  }
}
