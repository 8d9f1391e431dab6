{{/* Rejects contradictory values that the schema cannot detect. Each message says what to change. */}}
{{- define "millrace.checks" -}}
{{- $root := . -}}
{{- $config := .Values.config -}}
{{- $lanes := include "millrace.lanes" . | int -}}
{{- $processes := (include "millrace.processes" . | fromJson).processes -}}
{{- if not $processes -}}
{{- fail "nothing is enabled: set ingress.enabled, one of workers.*.enabled, console.enabled, postgres.enabled, backfill.enabled or a consumer's enabled to true" -}}
{{- end -}}
{{- if eq (default "" $config.kafka.bootstrapServers) "" -}}
{{- fail "config.kafka.bootstrapServers is empty: list your brokers, for example kafka-0.example.com:9092,kafka-1.example.com:9092" -}}
{{- end -}}
{{- range $server := splitList "," $config.kafka.bootstrapServers -}}
{{- if not (regexMatch "^[^:]+:[0-9]+$|^\\[[0-9a-fA-F:]+\\]:[0-9]+$" (trim $server)) -}}
{{- fail (printf "config.kafka.bootstrapServers contains %q: write host:port; the `embedded` cluster is for development and stores nothing on disk" (trim $server)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := default (dict) $config.kafka.properties -}}
{{- if and (kindIs "map" $value) (not (hasSuffix ".location" $name)) -}}
{{- fail (printf "config.kafka.properties.%s is a reference, and the property's value would be the path of the file: move it to config.kafka.propertyFiles, which reads the file" $name) -}}
{{- end -}}
{{- if and (not (kindIs "map" $value)) (include "millrace.isSecretProperty" $name) -}}
{{- fail (printf "config.kafka.properties.%s would be stored in plain text in a ConfigMap: move it to config.kafka.propertyFiles as {secret: …, key: …}" $name) -}}
{{- end -}}
{{- end -}}
{{- $oauth := default (dict) $config.kafka.oauth -}}
{{- $needsAccount := or (and (eq (default "" $oauth.method) "aws") (not $oauth.accessKeyId)) (hasKey (default (dict) $oauth.tokenFile) "serviceAccountAudience") -}}
{{- if and $needsAccount .Values.serviceAccount.create (eq .Values.topics.manage "job") -}}
{{- fail "the topics job runs before the release creates its ServiceAccount, so it would have no tokens for Kafka: create the account beforehand, set serviceAccount.create to false and serviceAccount.name to its name, or set topics.manage to none" -}}
{{- end -}}
{{- range $worker, $entry := default (dict) $config.workers -}}
{{- range $name, $value := dig "settings" "headers" (dict) (default (dict) $entry) -}}
{{- if regexMatch "(?i)^(authorization|proxy-authorization|cookie|.*(token|secret|api-?key).*)$" $name -}}
{{- fail (printf "config.workers.%s.settings.headers.%s would be stored in plain text in a ConfigMap: move it to headerFiles as {secret: …, key: …}" $worker $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (empty $config.apps) -}}
{{- fail "config.apps is empty: the ingress would answer 503 to everything. List your apps with bundleId, appAppleId and environments" -}}
{{- end -}}
{{- range $app := default (list) $config.apps -}}
{{- if and (has "Production" (default (list "Production" "Sandbox") $app.environments)) (not $app.appAppleId) -}}
{{- fail (printf "config.apps: %s has no appAppleId, which Production requires: set it (App Store Connect, App Information), or list only Sandbox in environments" $app.bundleId) -}}
{{- end -}}
{{- end -}}
{{- $receivers := list -}}
{{- range $worker, $entry := default (dict) $config.workers -}}
{{- if hasPrefix "forward-" $worker -}}
{{- $receivers = append $receivers $worker -}}
{{- if not (dig "settings" "url" "" (default (dict) $entry)) -}}
{{- fail (printf "config.workers.%s has no settings.url: set the URL of the receiver" $worker) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.workers.forward.enabled (empty $receivers) -}}
{{- fail "workers.forward is enabled, but config.workers has no forward-<receiver>: add one with settings.url, or set workers.forward.enabled to false" -}}
{{- end -}}
{{- $handlers := list -}}
{{- range $worker, $entry := default (dict) $config.workers -}}
{{- $handler := dig "handler" "" (default (dict) $entry) -}}
{{- if $handler -}}
{{- $handlers = append $handlers $worker -}}
{{- range $key := list "url" "secretFile" -}}
{{- if not (get $handler $key) -}}
{{- fail (printf "config.workers.%s has no handler.%s: set it (docs/http-workers.md)" $worker $key) -}}
{{- end -}}
{{- end -}}
{{- if not $entry.families -}}
{{- fail (printf "config.workers.%s has a handler but no families: list the families it reads, for example [subscriptions]" $worker) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $webhooks := list -}}
{{- range $worker, $entry := include "millrace.configuredWorkers" . | fromJson -}}
{{- if hasPrefix "webhook-" $worker -}}
{{- $webhooks = append $webhooks $worker -}}
{{- range $key := list "url" "secretFile" -}}
{{- if not (dig "settings" $key "" (default (dict) $entry)) -}}
{{- fail (printf "config.webhooks.%s has no %s: set it (docs/webhooks.md)" (trimPrefix "webhook-" $worker) $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.workers.http.enabled (empty $handlers) (empty $webhooks) -}}
{{- fail "workers.http is enabled, but no entry of config.workers has a handler, and config.webhooks is empty: add one with handler.url, or set workers.http.enabled to false" -}}
{{- end -}}
{{- if .Values.workers.consumption.enabled -}}
{{- $consumption := dig "consumption" "settings" (dict) (default (dict) $config.workers) -}}
{{- if empty $consumption.providers -}}
{{- fail "workers.consumption is enabled, but config.workers.consumption.settings.providers is empty: list at least one of http, topic and rules (docs/consumption.md), or set workers.consumption.enabled to false" -}}
{{- end -}}
{{- if and (has "http" $consumption.providers) (not (dig "http" "url" "" $consumption)) -}}
{{- fail "config.workers.consumption.settings.providers contains http, but config.workers.consumption.settings.http.url is missing: set the URL that receives the questions" -}}
{{- end -}}
{{- end -}}
{{- $grace := include "millrace.seconds" (dict "text" (dig "shutdown" "grace" "25s" $config) "key" "config.shutdown.grace") | int -}}
{{- $running := include "millrace.workerNames" . | fromJsonArray -}}
{{- range $name, $entry := include "millrace.workerEntries" . | fromJson -}}
{{- if or $entry.drainTimeout (has $name $running) -}}
{{- $drain := include "millrace.seconds" (dict "text" (default "20s" $entry.drainTimeout) "key" (printf "config.workers.%s.drainTimeout" $name)) | int -}}
{{- if gt $drain $grace -}}
{{- fail (printf "config.workers.%s drains for up to %d s, but the process stops after config.shutdown.grace, %d s: raise config.shutdown.grace to at least %ds, or lower its drainTimeout" $name $drain $grace $drain) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.console.enabled -}}{{- include "millrace.consoleChecks" . -}}{{- end -}}
{{- if and .Values.postgres.enabled (not (dig "postgres" "url" "" .Values.config)) -}}
{{- fail "postgres.enabled is true, but config.postgres.url is missing: set the connection URI of the database (docs/postgres.md)" -}}
{{- end -}}
{{- include "millrace.listenChecks" (dict "root" . "processes" $processes) -}}
{{- range $process := $processes -}}
{{- $settings := $process.settings -}}
{{- $scaling := default (dict) $settings.autoscaling -}}
{{- range $name, $_ := default (dict) $settings.env -}}
{{- if regexMatch "(?i)(password|secret|token|private_?key)" $name -}}
{{- fail (printf "%s.env.%s looks like a secret and would be stored in plain text in the pod: use a file in config instead, as {secret: …, key: …}" $process.place $name) -}}
{{- end -}}
{{- if hasPrefix "MILLRACE_" $name -}}
{{- fail (printf "%s.env.%s: set the key under config instead, so that all processes use it and restart when it changes" $process.place $name) -}}
{{- end -}}
{{- end -}}
{{- if $process.workers -}}
{{- if and $scaling.enabled (gt (int $scaling.maxReplicas) $lanes) -}}
{{- fail (printf "%s.autoscaling.maxReplicas is %d, but there are %d lanes (config.topics.lanes), and a replica without a lane is idle: lower it to %d" $process.place (int $scaling.maxReplicas) $lanes $lanes) -}}
{{- end -}}
{{- if and (not $scaling.enabled) (gt (int $settings.replicas) $lanes) -}}
{{- fail (printf "%s.replicas is %d, but there are %d lanes (config.topics.lanes), and a replica without a lane is idle: lower it to %d" $process.place (int $settings.replicas) $lanes $lanes) -}}
{{- end -}}
{{- if $scaling.enabled -}}
{{- range $worker, $families := $process.families -}}
{{- if not $families -}}
{{- fail (printf "%s has autoscaling but no families: list the families it reads, for example [subscriptions], so that KEDA can measure their lag" $process.place) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $scaling.enabled (gt (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- fail (printf "%s.autoscaling: minReplicas is above maxReplicas: lower minReplicas or raise maxReplicas" $process.place) -}}
{{- end -}}
{{- if and $scaling.enabled (eq $process.name "ingress") -}}
{{- if not (dig "requests" "cpu" "" (default $root.Values.pods.resources $settings.resources)) -}}
{{- fail "ingress.autoscaling measures CPU usage relative to the CPU request: set ingress.resources.requests.cpu" -}}
{{- end -}}
{{- end -}}
{{- if hasPrefix "consumer-" $process.name -}}
{{- $worker := first $process.workers -}}
{{- if or (has $worker (list "subscriptions" "refunds" "renewal-extensions" "consumption" "decoder")) (hasPrefix "forward-" $worker) (hasPrefix "webhook-" $worker) -}}
{{- fail (printf "consumers.%s has the name of a built-in worker and would share its group and ledger: rename it" $worker) -}}
{{- end -}}
{{- if has $worker $handlers -}}
{{- fail (printf "consumers.%s has the name of an HTTP worker (config.workers.%s.handler) and would share its group and ledger: rename one of them" $worker $worker) -}}
{{- end -}}
{{- if not (dig "repository" "" (default (dict) $process.image)) -}}
{{- fail (printf "consumers.%s.image.repository is missing: set the image that its Dockerfile builds" $worker) -}}
{{- end -}}
{{- end -}}
{{- if has $process.name (list "refunds" "renewal-extensions" "consumption" "backfill") -}}
{{- $hasKey := false -}}
{{- range $app := default (list) $config.apps -}}{{- if $app.api -}}{{- $hasKey = true -}}{{- end -}}{{- end -}}
{{- if and (not $hasKey) (has $process.name (list "renewal-extensions" "consumption" "backfill")) -}}
{{- fail (printf "%s calls Apple, but no app in config.apps has api: set issuerId, keyId and privateKeyFile (App Store Connect, Users and Access, Integrations), or set %s.enabled to false" $process.place $process.place) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $exposure := .Values.ingress.exposure -}}
{{- if ne $exposure.kind "none" -}}
{{- if empty $exposure.hostnames -}}
{{- fail "ingress.exposure.hostnames is empty: set the host name of the URL in App Store Connect" -}}
{{- end -}}
{{- if and (eq $exposure.kind "gateway") (empty $exposure.gateways) -}}
{{- fail "ingress.exposure.gateways is empty: set the Gateway to attach to, for example [{name: public, namespace: gateways}]" -}}
{{- end -}}
{{- if and (eq $exposure.kind "gateway") $exposure.tlsSecretName -}}
{{- fail "ingress.exposure.tlsSecretName is only for kind ingress, because the Gateway's listener has the certificate: remove it" -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.topics.manage "strimzi") (empty .Values.topics.strimzi.cluster) -}}
{{- fail "topics.strimzi.cluster is empty: set the name of the Kafka resource" -}}
{{- end -}}
{{- end -}}

{{/* Checks ports and addresses: no two listeners share a port, and none listens on loopback. */}}
{{- define "millrace.listenChecks" -}}
{{- $config := .root.Values.config -}}
{{- $admin := include "millrace.adminPort" .root | int -}}
{{- if eq $admin 0 -}}
{{- fail "config.admin.port is 0, a random port, but probes and Prometheus need a fixed one: remove the key, or set a port" -}}
{{- end -}}
{{- $listeners := list (list "admin" "probes and Prometheus") -}}
{{- range $process := .processes -}}
{{- if has $process.name (list "ingress" "console") -}}
{{- if eq (int $process.port) 0 -}}
{{- fail (printf "config.%s.port is 0, a random port, but the Service needs a fixed one: remove the key, or set a port" $process.name) -}}
{{- end -}}
{{- if eq (int $process.port) $admin -}}
{{- fail (printf "config.%s.port and config.admin.port are both %d, and the process would not start: change one of them" $process.name $admin) -}}
{{- end -}}
{{- if eq $process.name "ingress" -}}{{- $listeners = append $listeners (list "ingress" "its Service") -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $listener := $listeners -}}
{{- $host := dig (first $listener) "host" "0.0.0.0" $config -}}
{{- if regexMatch "^(127\\..*|::1|localhost)$" $host -}}
{{- fail (printf "config.%s.host is %s, which %s cannot reach from outside the container: remove the key" (first $listener) $host (last $listener)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The console trusts the header that names the user, so only the proxy that sets the header may reach the pod. */}}
{{- define "millrace.consoleChecks" -}}
{{- $example := "for example [{podSelector: {matchLabels: {app.kubernetes.io/name: oauth2-proxy}}}]" -}}
{{- if eq (dig "console" "proxy" "required" .Values.config) "none" -}}
{{- fail "config.console.proxy is none, so the console would listen on loopback only and be unreachable in a pod: remove the key and put an authenticating proxy in front of the console, or run millrace-console on your own machine" -}}
{{- end -}}
{{- if not .Values.networkPolicy.enabled -}}
{{- fail "console.enabled is true and networkPolicy.enabled is false, so any pod of the cluster could use the console as any user: set networkPolicy.enabled to true, or console.enabled to false" -}}
{{- end -}}
{{- if empty .Values.console.allowFrom -}}
{{- fail (printf "console.allowFrom is empty, so any pod of the cluster could use the console as any user: select the pods of your authenticating proxy, %s" $example) -}}
{{- end -}}
{{- range $peer := .Values.console.allowFrom -}}
{{- $cidr := dig "ipBlock" "cidr" "" $peer -}}
{{- $labels := concat (values (dig "podSelector" (dict) $peer)) (values (dig "namespaceSelector" (dict) $peer)) -}}
{{- if or (hasSuffix "/0" $cidr) (and (not $cidr) (empty (compact $labels))) -}}
{{- fail (printf "console.allowFrom contains %s, which admits any client, and each could use the console as any user: select the pods of your authenticating proxy, %s" (toJson $peer) $example) -}}
{{- end -}}
{{- end -}}
{{- if ne .Values.console.service.type "ClusterIP" -}}
{{- fail (printf "console.service.type is %s, which would let clients bypass the proxy: set it to ClusterIP, and expose the proxy" .Values.console.service.type) -}}
{{- end -}}
{{- end -}}
