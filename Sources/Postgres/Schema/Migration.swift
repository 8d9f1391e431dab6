// The numbered migrations of the schema. A migration that was released is never changed, and a new one only adds.

internal import MillraceCore

/// A migration.
package struct Migration: Sendable {
  /// Its number, counted from 1.
  package var version: Int
  /// A short description.
  package var name: String
  /// Its statements. `{schema}` stands for the name of the schema.
  package var sql: String

  /// All migrations, in order.
  package static let all = [
    Migration(
      version: 1, name: "positions, tables, and the view customer_entitlements",
      sql: positions + columns(of: 1) + indexes + customerEntitlements),
    Migration(version: 2, name: "the uncertainty of a subscription", sql: columns(of: 2)),
    Migration(version: 3, name: "commitments", sql: columns(of: 3)),
    Migration(version: 4, name: "the view consumption_outcomes", sql: consumptionOutcomes),
  ]

  /// The offset from which each partition continues, and the function that moves it. `advance` fails if another process
  /// has written the same records.
  private static let positions = """
    CREATE TABLE {schema}.positions (
      cluster text NOT NULL,
      topic text NOT NULL,
      "partition" integer NOT NULL,
      next bigint NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (cluster, topic, "partition")
    );

    CREATE FUNCTION {schema}.advance(
      of_cluster text, topics text[], partitions integer[], expected bigint[], following bigint[]
    ) RETURNS void LANGUAGE plpgsql AS $advance$
    DECLARE
      moved bigint;
    BEGIN
      UPDATE {schema}.positions AS p SET next = n.following, updated_at = now()
      FROM unnest(topics, partitions, expected, following) AS n(topic, "partition", expected, following)
      WHERE p.cluster = of_cluster AND p.topic = n.topic AND p."partition" = n."partition" AND p.next = n.expected;
      GET DIAGNOSTICS moved = ROW_COUNT;
      IF moved <> cardinality(topics) THEN
        RAISE EXCEPTION 'another process has written the same records' USING ERRCODE = 'MR001';
      END IF;
    END
    $advance$;

    CREATE TABLE {schema}.rejected (
      topic text NOT NULL,
      "partition" integer NOT NULL,
      "offset" bigint NOT NULL,
      reason text NOT NULL,
      key bytea,
      value bytea,
      rejected_at timestamptz NOT NULL DEFAULT now()
    );


    """

  /// The tables and columns that ``TableDefinition`` gives to a version.
  private static func columns(of version: Int) -> String {
    var sql = ""
    for definition in PostgresSettings.Table.allCases.map(TableDefinition.of) {
      let table = "{schema}.\(definition.table.rawValue)"
      let added = definition.columns.filter { $0.version == version }.map { column in
        "\"\(column.name)\" \(column.kind.type)"
          + (column == definition.key ? " PRIMARY KEY" : column.isRequired ? " NOT NULL" : "")
      }
      if definition.columns.contains(where: { $0.version < version }) {
        for column in added { sql += "ALTER TABLE \(table) ADD COLUMN \(column);\n" }
      } else if !added.isEmpty {
        let own = definition.key == nil ? [] : ["updated_at timestamptz NOT NULL DEFAULT now()"]
        sql += "CREATE TABLE \(table) (\n  \((added + own).joined(separator: ",\n  "))\n);\n\n"
      }
    }
    return sql
  }

  private static let indexes = """
    CREATE INDEX subscriptions_app_account_token ON {schema}.subscriptions (app_account_token)
      WHERE app_account_token IS NOT NULL;
    CREATE INDEX purchases_app_account_token ON {schema}.purchases (app_account_token)
      WHERE app_account_token IS NOT NULL;
    CREATE INDEX purchases_original_transaction_id ON {schema}.purchases (original_transaction_id);
    CREATE INDEX events_key ON {schema}.events (key);
    CREATE INDEX notifications_original_transaction_id ON {schema}.notifications (original_transaction_id);
    CREATE INDEX transactions_original_transaction_id ON {schema}.transactions (original_transaction_id);


    """

  /// "May this customer use this product?" by `app_account_token` or `original_transaction_id`.
  private static let customerEntitlements = """
    CREATE VIEW {schema}.customer_entitlements AS
    SELECT
      app_account_token, original_transaction_id, bundle_id, environment, product_id, 'subscription' AS kind,
      status IN ('active', 'grace-period') AND (entitled_until IS NULL OR entitled_until > now()) AS entitled,
      entitled_until, transaction_id
    FROM {schema}.subscriptions
    UNION ALL
    SELECT
      app_account_token, original_transaction_id, bundle_id, environment, product_id, 'purchase' AS kind,
      owned AND (expires_date IS NULL OR expires_date > now()) AS entitled,
      expires_date AS entitled_until, transaction_id
    FROM {schema}.purchases;
    """

  /// "What did Apple decide after our answers?" by preference, product and country. The newest outcome of each request
  /// counts.
  private static let consumptionOutcomes = """
    CREATE VIEW {schema}.consumption_outcomes AS
    WITH latest AS (
      SELECT DISTINCT ON (data #>> '{purchase,notificationUUID}') data
      FROM {schema}.events
      WHERE worker = 'consumption' AND type = 'consumption.outcome'
      ORDER BY data #>> '{purchase,notificationUUID}', data ->> 'decidedAt' DESC NULLS LAST, "time" DESC
    )
    SELECT
      data #>> '{purchase,bundleId}' AS bundle_id, data #>> '{purchase,environment}' AS environment,
      data ->> 'refundPreference' AS refund_preference, data #>> '{purchase,productId}' AS product_id,
      data ->> 'storefront' AS storefront, count(*) AS answers,
      count(*) FILTER (WHERE data ->> 'outcome' = 'refunded') AS refunded,
      count(*) FILTER (WHERE data ->> 'outcome' = 'declined') AS declined,
      count(*) FILTER (WHERE data ->> 'outcome' = 'reversed') AS reversed,
      count(*) FILTER (WHERE data ->> 'outcome' = 'none') AS undecided,
      round(count(*) FILTER (WHERE data ->> 'outcome' = 'refunded') / count(*)::numeric, 4) AS refunded_share
    FROM latest
    GROUP BY 1, 2, 3, 4, 5;
    """
}
