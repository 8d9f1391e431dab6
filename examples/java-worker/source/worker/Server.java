package worker;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The endpoint: verifies the signature of a request, asks the worker, and answers with its outcome. An exception in the
 * worker becomes an answer 500, and Millrace sends the request again later.
 */
final class Server {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws IOException {
    var secretFile = System.getenv("WEBHOOK_SECRET_FILE");
    if (secretFile == null) throw new IllegalStateException("set WEBHOOK_SECRET_FILE");
    var port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8000"));
    var server = start(new InetSocketAddress(port), Path.of(secretFile));
    // SIGTERM lets the requests in flight finish, for at most a second.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> server.stop(1)));
  }

  static HttpServer start(InetSocketAddress address, Path secretFile) throws IOException {
    var server = HttpServer.create(address, 0);
    server.setExecutor(Executors.newFixedThreadPool(16, task -> {
      var thread = new Thread(task);
      thread.setDaemon(true);
      return thread;
    }));
    server.createContext("/", exchange -> {
      try (exchange) {
        answer(exchange, secretFile);
      } catch (IOException | RuntimeException | GeneralSecurityException error) {
        error.printStackTrace();
        if (exchange.getResponseCode() == -1) problem(exchange, 500, "the worker failed");
      }
    });
    server.start();
    return server;
  }

  private static void answer(HttpExchange exchange, Path secretFile) throws IOException, GeneralSecurityException {
    var body = exchange.getRequestBody().readAllBytes();
    if (!exchange.getRequestURI().getPath().equals("/notifications")) {
      problem(exchange, 404, "no such path");
    } else if (!exchange.getRequestMethod().equals("POST")) {
      problem(exchange, 405, "only POST is allowed");
      // Reads the secret for each request: it can be replaced while the process runs.
    } else if (!isGenuine(exchange.getRequestHeaders(), body, readKey(secretFile), Instant.now())) {
      problem(exchange, 401, "the signature is missing or wrong");
    } else {
      var data = parsed(body);
      if (!data.isObject()) {
        problem(exchange, 400, "the body is not a CloudEvent");
        return;
      }
      var outcome = Worker.decide(data);
      if (outcome == null) exchange.sendResponseHeaders(204, -1);
      else send(exchange, 200, "application/json", outcome);
    }
  }

  private static JsonNode parsed(byte[] body) throws IOException {
    try {
      return JSON.readTree(body).path("data");
    } catch (JsonProcessingException error) {
      return JSON.missingNode();
    }
  }

  private static void problem(HttpExchange exchange, int status, String title) throws IOException {
    var problem = JSON.createObjectNode().put("title", title).put("status", status);
    send(exchange, status, "application/problem+json", problem);
  }

  private static void send(HttpExchange exchange, int status, String type, JsonNode content) throws IOException {
    var body = JSON.writeValueAsBytes(content);
    exchange.getResponseHeaders().set("content-type", type);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  /** Reads the key of the signature. `whsec_` and Base64, or the text itself. */
  static byte[] readKey(Path file) throws IOException {
    var secret = Files.readString(file).strip();
    return secret.startsWith("whsec_") ? Base64.getDecoder().decode(secret.substring(6)) : secret.getBytes(UTF_8);
  }

  /** Verifies a signature by Standard Webhooks (standardwebhooks.com). Times more than five minutes away are refused. */
  static boolean isGenuine(Headers headers, byte[] body, byte[] key, Instant now) throws GeneralSecurityException {
    var id = headers.getFirst("webhook-id");
    var time = headers.getFirst("webhook-timestamp");
    var signatures = headers.getFirst("webhook-signature");
    if (id == null || time == null || signatures == null || !time.matches("[0-9]{1,12}")) return false;
    if (Math.abs(now.getEpochSecond() - Long.parseLong(time)) > 300) return false;
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update((id + "." + time + ".").getBytes(UTF_8));
    var expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    for (var signature : signatures.split(" ")) {
      if (MessageDigest.isEqual(expected.getBytes(UTF_8), signature.getBytes(UTF_8))) return true;
    }
    return false;
  }

  private Server() {}
}
