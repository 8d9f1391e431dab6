// The work of a worker with an empty handler, with Kafka's own client: transactions, de-duplication by ce_id, and a
// changelog of the ids.
//
//     java -cp 'JARS/*' TransactionalConsumer.java BOOTSTRAP TOPIC CHANGELOG COUNT
//
// The first fifth of the records is a warm-up. Prints the number of the others, the seconds until the last commit, and
// the CPU seconds of that time.
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public final class TransactionalConsumer {
  public static void main(String[] arguments) {
    String bootstrap = arguments[0];
    String topic = arguments[1];
    String changelog = arguments[2];
    int count = Integer.parseInt(arguments[3]);

    Properties reading = new Properties();
    reading.put("bootstrap.servers", bootstrap);
    reading.put("group.id", "bench-" + UUID.randomUUID());
    reading.put("auto.offset.reset", "earliest");
    reading.put("enable.auto.commit", "false");
    reading.put("isolation.level", "read_committed");
    reading.put("max.poll.records", "10000");
    reading.put("max.partition.fetch.bytes", "4194304");
    reading.put("fetch.max.bytes", "104857600");
    Properties writing = new Properties();
    writing.put("bootstrap.servers", bootstrap);
    writing.put("transactional.id", "bench-" + UUID.randomUUID());
    writing.put("linger.ms", "5");
    writing.put("batch.size", "262144");

    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    Set<ByteBuffer> seen = new HashSet<>();
    int read = 0;
    int warmUp = 0;
    long began = 0;
    long cpu = 0;
    try (KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(writing, new ByteArraySerializer(), new ByteArraySerializer())) {
      producer.initTransactions();
      consumer.subscribe(List.of(topic));
      long heard = System.nanoTime();
      while (read < count) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
        if (records.isEmpty()) {
          if (System.nanoTime() - heard > 30_000_000_000L) {
            throw new IllegalStateException("no record within 30 s; " + read + " of " + count + " read");
          }
          continue;
        }
        heard = System.nanoTime();
        if (began == 0 && read >= count / 5) {
          warmUp = read;
          began = heard;
          cpu = system.getProcessCpuTime();
        }
        producer.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (var record : records) {
          byte[] id = record.headers().lastHeader("ce_id").value();
          if (seen.add(ByteBuffer.wrap(id))) {
            byte[] entry = ByteBuffer.allocate(16).putLong(record.offset()).putLong(record.timestamp()).array();
            producer.send(new ProducerRecord<>(changelog, record.partition(), id, entry));
          }
          offsets.put(
              new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
          read++;
        }
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        producer.commitTransaction();
      }
    }
    System.out.printf(
        "%d %f %f%n", read - warmUp, (System.nanoTime() - began) / 1e9, (system.getProcessCpuTime() - cpu) / 1e9);
  }
}
