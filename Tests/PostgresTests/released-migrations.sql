-- 1: positions, tables, and the view customer_entitlements
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

CREATE TABLE {schema}.subscriptions (
  "original_transaction_id" text PRIMARY KEY,
  "bundle_id" text,
  "environment" text,
  "status" text,
  "entitled_until" timestamptz,
  "product_id" text,
  "subscription_group_identifier" text,
  "expires_date" timestamptz,
  "grace_period_expires_date" timestamptz,
  "auto_renews" boolean,
  "auto_renew_product_id" text,
  "renewal_price" bigint,
  "renewal_currency" text,
  "renewal_offer" jsonb,
  "price_increase" text,
  "expiration_intent" bigint,
  "transaction_id" text,
  "purchase_date" timestamptz,
  "original_purchase_date" timestamptz,
  "price" bigint,
  "currency" text,
  "offer" jsonb,
  "ownership" text,
  "app_account_token" text,
  "app_transaction_id" text,
  "revocation_date" timestamptz,
  "revocation_reason" bigint,
  "signed_date" timestamptz,
  "cause" jsonb,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE {schema}.purchases (
  "original_transaction_id" text,
  "bundle_id" text,
  "environment" text,
  "owned" boolean,
  "product_id" text,
  "product_type" text,
  "quantity" bigint,
  "expires_date" timestamptz,
  "transaction_id" text PRIMARY KEY,
  "purchase_date" timestamptz,
  "original_purchase_date" timestamptz,
  "price" bigint,
  "currency" text,
  "offer" jsonb,
  "ownership" text,
  "app_account_token" text,
  "app_transaction_id" text,
  "revocation_date" timestamptz,
  "revocation_reason" bigint,
  "signed_date" timestamptz,
  "cause" jsonb,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE {schema}.entitlements (
  "transaction_id" text PRIMARY KEY,
  "original_transaction_id" text,
  "bundle_id" text,
  "environment" text,
  "product_id" text,
  "product_type" text,
  "quantity" bigint,
  "ownership" text,
  "app_account_token" text,
  "purchase_date" timestamptz,
  "expires_date" timestamptz,
  "revoked" boolean,
  "revocation" jsonb,
  "signed_date" timestamptz,
  "source" text,
  "notification_id" text,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE {schema}.events (
  "id" text NOT NULL,
  "type" text NOT NULL,
  "worker" text NOT NULL,
  "key" text,
  "time" timestamptz,
  "notification_id" text,
  "supersedes" text,
  "data" jsonb
);

CREATE TABLE {schema}.notifications (
  "notification_uuid" text,
  "verified" boolean,
  "received_at" timestamptz,
  "original_transaction_id" text,
  "transaction_id" text,
  "product_id" text,
  "app_account_token" text,
  "notification_type" text,
  "subtype" text,
  "version" text,
  "signed_date" timestamptz,
  "environment" text,
  "app_apple_id" bigint,
  "bundle_id" text,
  "bundle_version" text,
  "status" bigint,
  "consumption_request_reason" text,
  "request_identifier" text,
  "storefront_country_codes" jsonb,
  "succeeded_count" bigint,
  "failed_count" bigint,
  "external_purchase_id" text,
  "token_creation_date" timestamptz,
  "token_expiration_date" timestamptz,
  "token_type" text,
  "other_fields" jsonb
);

CREATE TABLE {schema}.transactions (
  "kind" text,
  "notification_uuid" text,
  "notification_type" text,
  "subtype" text,
  "verified" boolean,
  "received_at" timestamptz,
  "original_transaction_id" text,
  "transaction_id" text,
  "web_order_line_item_id" text,
  "bundle_id" text,
  "product_id" text,
  "subscription_group_identifier" text,
  "purchase_date" timestamptz,
  "original_purchase_date" timestamptz,
  "expires_date" timestamptz,
  "quantity" bigint,
  "type" text,
  "app_account_token" text,
  "in_app_ownership_type" text,
  "signed_date" timestamptz,
  "revocation_reason" bigint,
  "revocation_date" timestamptz,
  "is_upgraded" boolean,
  "offer_type" bigint,
  "offer_identifier" text,
  "environment" text,
  "storefront" text,
  "storefront_id" text,
  "transaction_reason" text,
  "currency" text,
  "price" bigint,
  "offer_discount_type" text,
  "app_transaction_id" text,
  "offer_period" text,
  "revocation_type" text,
  "revocation_percentage" bigint,
  "advanced_commerce_info" jsonb,
  "billing_plan_type" text,
  "commitment_info" jsonb,
  "expiration_intent" bigint,
  "auto_renew_product_id" text,
  "auto_renew_status" bigint,
  "is_in_billing_retry_period" boolean,
  "price_increase_status" bigint,
  "grace_period_expires_date" timestamptz,
  "recent_subscription_start_date" timestamptz,
  "renewal_date" timestamptz,
  "renewal_price" bigint,
  "eligible_win_back_offer_ids" jsonb,
  "renewal_billing_plan_type" text,
  "receipt_type" text,
  "app_apple_id" bigint,
  "application_version" text,
  "version_external_identifier" bigint,
  "receipt_creation_date" timestamptz,
  "original_application_version" text,
  "device_verification" text,
  "device_verification_nonce" text,
  "preorder_date" timestamptz,
  "original_platform" text,
  "other_fields" jsonb
);

CREATE INDEX subscriptions_app_account_token ON {schema}.subscriptions (app_account_token)
  WHERE app_account_token IS NOT NULL;
CREATE INDEX purchases_app_account_token ON {schema}.purchases (app_account_token)
  WHERE app_account_token IS NOT NULL;
CREATE INDEX purchases_original_transaction_id ON {schema}.purchases (original_transaction_id);
CREATE INDEX events_key ON {schema}.events (key);
CREATE INDEX notifications_original_transaction_id ON {schema}.notifications (original_transaction_id);
CREATE INDEX transactions_original_transaction_id ON {schema}.transactions (original_transaction_id);

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
-- 2: the uncertainty of a subscription
ALTER TABLE {schema}.subscriptions ADD COLUMN "uncertain" text;

-- 3: commitments
ALTER TABLE {schema}.subscriptions ADD COLUMN "commitment" jsonb;

-- 4: the view consumption_outcomes
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
