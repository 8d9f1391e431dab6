package worker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

public class ServerTest {
  private static final String EVENT = "{\"data\": {\"kind\": \"notification\", \"key\": \"1\", \"state\": null, "
      + "\"notification\": {\"version\": 2, \"type\": \"EXPIRED\", \"subtype\": \"VOLUNTARY\", "
      + "\"receivedAt\": \"2026-01-06T03:22:02Z\"}}}";
  private final HttpClient client = HttpClient.newHttpClient();
  private Path secret;
  private HttpServer server;

  @Before public void start() throws Exception {
    secret = Files.createTempFile("secret", "");
    Files.writeString(secret, "whsec_bWlsbHJhY2U=\n");
    server = Server.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), secret);
  }

  @After public void stop() throws Exception {
    server.stop(0);
    Files.delete(secret);
  }

  private static Headers sign(String body, String key, long time) throws Exception {
    var id = "0b5c1f0e-8f35-5a3b-9a5e-6f0d1d0e7c11";
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key.getBytes(UTF_8), "HmacSHA256"));
    var signature = Base64.getEncoder().encodeToString(mac.doFinal((id + "." + time + "." + body).getBytes(UTF_8)));
    var headers = new Headers();
    headers.set("webhook-id", id);
    headers.set("webhook-timestamp", Long.toString(time));
    headers.set("webhook-signature", "v1," + signature);
    return headers;
  }

  private HttpResponse<String> post(String path, String body, Headers headers) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path))
        .POST(HttpRequest.BodyPublishers.ofString(body));
    headers.forEach((name, values) -> request.header(name, values.get(0)));
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private int status(String body, Headers headers) throws Exception {
    return post("/notifications", body, headers).statusCode();
  }

  private static Headers signed(String body) throws Exception {
    return sign(body, "millrace", Instant.now().getEpochSecond());
  }

  @Test public void aSignedRequestIsAnswered() throws Exception {
    var answer = post("/notifications", EVENT, signed(EVENT));
    assertEquals(200, answer.statusCode());
    var json = new ObjectMapper();
    assertEquals(Worker.decide(json.readTree(EVENT).path("data")), json.readTree(answer.body()));
    var other = EVENT.replace("EXPIRED", "TEST");
    assertEquals(204, status(other, signed(other)));
  }

  @Test public void aSecretWithoutPrefixIsItsOwnKey() throws Exception {
    var key = Server.readKey(secret);
    Files.writeString(secret, "millrace");
    assertArrayEquals(key, Server.readKey(secret));
  }

  @Test public void duringARotationOneValidSignatureIsEnough() throws Exception {
    var headers = signed(EVENT);
    headers.set("webhook-signature", "v1,AAAA " + headers.getFirst("webhook-signature"));
    assertEquals(200, status(EVENT, headers));
  }

  @Test public void aWrongSignatureIsRefused() throws Exception {
    assertEquals(401, status(EVENT, new Headers()));
    assertEquals(401, status(EVENT, sign(EVENT, "another", Instant.now().getEpochSecond())));
    assertEquals(401, status(EVENT, signed("{}")));
    for (var signature : new String[] {"v1", "v1,", "v1,AAAA", "v1,=", "v2,AAAA", "nonsense"}) {
      var headers = signed(EVENT);
      headers.set("webhook-signature", signature);
      assertEquals(signature, 401, status(EVENT, headers));
    }
  }

  @Test public void anOldTimeIsRefused() throws Exception {
    var headers = sign("{}", "millrace", 1_767_669_722);
    var body = "{}".getBytes(UTF_8);
    var key = "millrace".getBytes(UTF_8);
    assertTrue(Server.isGenuine(headers, body, key, Instant.ofEpochSecond(1_767_669_722 + 299)));
    assertFalse(Server.isGenuine(headers, body, key, Instant.ofEpochSecond(1_767_669_722 + 301)));
    assertFalse(Server.isGenuine(headers, body, key, Instant.ofEpochSecond(1_767_669_722 - 301)));
  }

  @Test public void aBodyThatIsNoEventIsRefused() throws Exception {
    for (var body : new String[] {"{", "{}", "[]", "1", "null", ""}) {
      assertEquals(body, 400, status(body, signed(body)));
    }
  }

  @Test public void anotherPathIsRefused() throws Exception {
    assertEquals(404, post("/other", EVENT, signed(EVENT)).statusCode());
  }
}
