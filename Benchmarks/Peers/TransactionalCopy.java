// The least that a pipeline with Kafka's own client does: produces records at a steady rate, and copies each into another
// topic in a transaction.
//
//     java -cp 'JARS/*' TransactionalCopy.java BOOTSTRAP INPUT OUTPUT PER_SECOND COUNT BYTES
//
// The key of a record is the time at which it was due, in microseconds since 1970, and its number. A record is sent when it is
// due, whether the one before has arrived or not. Copies have at most 1 000 bytes.
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public final class TransactionalCopy {
  public static void main(String[] arguments) throws InterruptedException {
    String bootstrap = arguments[0];
    String input = arguments[1];
    String output = arguments[2];
    int perSecond = Integer.parseInt(arguments[3]);
    int count = Integer.parseInt(arguments[4]);
    byte[] value = new byte[Integer.parseInt(arguments[5])];
    Arrays.fill(value, (byte) 'x');

    Properties producing = new Properties();
    producing.put("bootstrap.servers", bootstrap);
    Properties reading = new Properties();
    reading.put("bootstrap.servers", bootstrap);
    reading.put("group.id", "bench-" + UUID.randomUUID());
    reading.put("auto.offset.reset", "latest");
    reading.put("enable.auto.commit", "false");
    reading.put("isolation.level", "read_committed");
    Properties writing = new Properties();
    writing.put("bootstrap.servers", bootstrap);
    writing.put("transactional.id", "bench-" + UUID.randomUUID());

    try (KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        KafkaProducer<byte[], byte[]> copier =
            new KafkaProducer<>(writing, new ByteArraySerializer(), new ByteArraySerializer());
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(producing, new ByteArraySerializer(), new ByteArraySerializer())) {
      copier.initTransactions();
      consumer.subscribe(List.of(input));
      while (consumer.assignment().isEmpty()) {
        consumer.poll(Duration.ofMillis(100));
      }
      // Decides where the consumer begins, before there are records.
      consumer.assignment().forEach(consumer::position);
      producer.partitionsFor(input);
      Thread sender = new Thread(() -> send(producer, input, perSecond, count, value));
      sender.start();
      int copied = 0;
      long heard = System.nanoTime();
      while (copied < count) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
        if (records.isEmpty()) {
          if (System.nanoTime() - heard > 30_000_000_000L) {
            throw new IllegalStateException("no record within 30 s; " + copied + " of " + count + " copied");
          }
          continue;
        }
        heard = System.nanoTime();
        copier.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (var record : records) {
          byte[] copy = Arrays.copyOf(record.value(), Math.min(record.value().length, 1_000));
          copier.send(new ProducerRecord<>(output, record.key(), copy));
          offsets.put(
              new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
          copied++;
        }
        copier.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        copier.commitTransaction();
      }
      sender.join();
    }
  }

  private static void send(
      KafkaProducer<byte[], byte[]> producer, String topic, int perSecond, int count, byte[] value) {
    Instant start = Instant.now();
    for (int number = 0; number < count; number++) {
      Instant due = start.plusNanos(1_000_000_000L / perSecond * number);
      for (long wait = Duration.between(Instant.now(), due).toNanos(); wait > 0;
          wait = Duration.between(Instant.now(), due).toNanos()) {
        LockSupport.parkNanos(wait);
      }
      long micros = due.getEpochSecond() * 1_000_000 + due.getNano() / 1_000;
      producer.send(new ProducerRecord<>(topic, (micros + " " + number).getBytes(), value));
    }
  }
}
