{{/* What the schema cannot see: values that contradict each other. Each ends the rendering with what to change. */}}
{{- define "millrace.checks" -}}
{{- $root := . -}}
{{- $config := .Values.config -}}
{{- $lanes := include "millrace.lanes" . | int -}}
{{- $processes := (include "millrace.processes" . | fromJson).processes -}}
{{- if not $processes -}}
{{- fail "nothing is enabled: set ingress.enabled, one of workers.*.enabled, console.enabled, backfill.enabled or a consumer's enabled to true" -}}
{{- end -}}
{{- if eq (default "" $config.kafka.bootstrapServers) "" -}}
{{- fail "config.kafka.bootstrapServers is empty: name your brokers, as in kafka-0.example.com:9092,kafka-1.example.com:9092" -}}
{{- end -}}
{{- range $server := splitList "," $config.kafka.bootstrapServers -}}
{{- if not (regexMatch "^[^:]+:[0-9]+$|^\\[[0-9a-fA-F:]+\\]:[0-9]+$" (trim $server)) -}}
{{- fail (printf "config.kafka.bootstrapServers has %q: write host:port; the cluster inside a process (`embedded`) is for development and keeps nothing" (trim $server)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := default (dict) $config.kafka.properties -}}
{{- if and (kindIs "map" $value) (not (hasSuffix ".location" $name)) -}}
{{- fail (printf "config.kafka.properties has a reference for %s, which would become a path: move it to config.kafka.propertyFiles, whose files are read" $name) -}}
{{- end -}}
{{- if and (not (kindIs "map" $value)) (include "millrace.isSecretProperty" $name) -}}
{{- fail (printf "config.kafka.properties.%s would stand readable in a ConfigMap: move it to config.kafka.propertyFiles as {secret: …, key: …}" $name) -}}
{{- end -}}
{{- end -}}
{{- range $receiver := default (list) $config.forward -}}
{{- range $name, $value := default (dict) $receiver.headers -}}
{{- if regexMatch "(?i)^(authorization|proxy-authorization|cookie|.*(token|secret|api-?key).*)$" $name -}}
{{- fail (printf "config.forward: the header %s of %s would stand readable in a ConfigMap: move it to headerFiles as {secret: …, key: …}" $name $receiver.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (empty $config.apps) -}}
{{- fail "config.apps is empty: the ingress would answer 503 to everything. List your apps with bundleId, appAppleId and environments" -}}
{{- end -}}
{{- range $app := default (list) $config.apps -}}
{{- if and (has "Production" (default (list "Production" "Sandbox") $app.environments)) (not $app.appAppleId) -}}
{{- fail (printf "config.apps: %s has no appAppleId, which Production needs (App Store Connect, App Information): set it, or list only Sandbox in environments" $app.bundleId) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.workers.forward.enabled (empty $config.forward) -}}
{{- fail "workers.forward is enabled and config.forward is empty: name a receiver with name and url, or set workers.forward.enabled to false" -}}
{{- end -}}
{{- if .Values.workers.consumption.enabled -}}
{{- $consumption := default (dict) $config.consumption -}}
{{- if empty $consumption.providers -}}
{{- fail "workers.consumption is enabled and config.consumption.providers is empty: list whom it asks, of http, topic and rules (docs/consumption.md), or set workers.consumption.enabled to false" -}}
{{- end -}}
{{- if and (has "http" $consumption.providers) (not (dig "http" "url" "" $consumption)) -}}
{{- fail "config.consumption.providers has http, and config.consumption.http.url is missing: name where the question is posted to" -}}
{{- end -}}
{{- end -}}
{{- $grace := include "millrace.seconds" (dict "text" (dig "shutdown" "grace" "25s" $config) "key" "config.shutdown.grace") | int -}}
{{- $running := include "millrace.workerNames" . | fromJsonArray -}}
{{- range $entry := include "millrace.workerEntries" . | fromJsonArray -}}
{{- if or $entry.drainTimeout (has $entry.name $running) -}}
{{- $drain := include "millrace.seconds" (dict "text" (default "20s" $entry.drainTimeout) "key" (printf "config.workers: drainTimeout of %s" $entry.name)) | int -}}
{{- if gt $drain $grace -}}
{{- fail (printf "config.workers: %s drains for up to %d s, and the process is cancelled after config.shutdown.grace, %d s: raise config.shutdown.grace to at least %ds, or lower its drainTimeout" $entry.name $drain $grace $drain) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.console.enabled -}}{{- include "millrace.consoleChecks" . -}}{{- end -}}
{{- include "millrace.listenChecks" (dict "root" . "processes" $processes) -}}
{{- range $process := $processes -}}
{{- $settings := $process.settings -}}
{{- $scaling := default (dict) $settings.autoscaling -}}
{{- range $name, $_ := default (dict) $settings.env -}}
{{- if regexMatch "(?i)(password|secret|token|private_?key)" $name -}}
{{- fail (printf "%s.env.%s looks like a secret, and would stand readable in the pod: name a file in config, as {secret: …, key: …}" $process.place $name) -}}
{{- end -}}
{{- if hasPrefix "MILLRACE_" $name -}}
{{- fail (printf "%s.env.%s: set the key under config instead, so that all processes have it and a change of it restarts them" $process.place $name) -}}
{{- end -}}
{{- end -}}
{{- if $process.workers -}}
{{- if and $scaling.enabled $settings.staticMembership -}}
{{- fail (printf "%s has autoscaling and staticMembership: a member that is scaled away would keep its lanes until its session ends. Set one of them to false" $process.place) -}}
{{- end -}}
{{- if and $scaling.enabled (gt (int $scaling.maxReplicas) $lanes) -}}
{{- fail (printf "%s.autoscaling.maxReplicas is %d, and there are %d lanes (config.topics.lanes): more replicas than lanes have nothing to do. Lower it to %d" $process.place (int $scaling.maxReplicas) $lanes $lanes) -}}
{{- end -}}
{{- if and (not $scaling.enabled) (gt (int $settings.replicas) $lanes) -}}
{{- fail (printf "%s.replicas is %d, and there are %d lanes (config.topics.lanes): more replicas than lanes have nothing to do. Lower it to %d" $process.place (int $settings.replicas) $lanes $lanes) -}}
{{- end -}}
{{- if $scaling.enabled -}}
{{- range $worker, $families := $process.families -}}
{{- if not $families -}}
{{- fail (printf "%s has autoscaling and no families: list the families it reads, such as [subscriptions], so that KEDA knows whose lag counts" $process.place) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $scaling.enabled (gt (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- fail (printf "%s.autoscaling: minReplicas is above maxReplicas: lower the one or raise the other" $process.place) -}}
{{- end -}}
{{- if and $scaling.enabled (eq $process.name "ingress") -}}
{{- if not (dig "requests" "cpu" "" (default $root.Values.pods.resources $settings.resources)) -}}
{{- fail "ingress.autoscaling goes by the share of the CPU that was asked for: set ingress.resources.requests.cpu" -}}
{{- end -}}
{{- end -}}
{{- if hasPrefix "consumer-" $process.name -}}
{{- $worker := first $process.workers -}}
{{- if or (has $worker (list "refunds" "renewal-extensions" "consumption")) (hasPrefix "forward-" $worker) -}}
{{- fail (printf "consumers.%s has the name of a worker that comes with Millrace, and would share its group and ledger: rename it" $worker) -}}
{{- end -}}
{{- if not (dig "repository" "" (default (dict) $process.image)) -}}
{{- fail (printf "consumers.%s.image.repository is missing: name the image that its Dockerfile makes" $worker) -}}
{{- end -}}
{{- end -}}
{{- if has $process.name (list "refunds" "renewal-extensions" "consumption" "backfill") -}}
{{- $hasKey := false -}}
{{- range $app := default (list) $config.apps -}}{{- if $app.api -}}{{- $hasKey = true -}}{{- end -}}{{- end -}}
{{- if and (not $hasKey) (has $process.name (list "renewal-extensions" "consumption" "backfill")) -}}
{{- fail (printf "%s asks Apple, and no app in config.apps has api: set issuerId, keyId and privateKeyFile (App Store Connect, Users and Access, Integrations), or set %s.enabled to false" $process.place $process.place) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $exposure := .Values.ingress.exposure -}}
{{- if ne $exposure.kind "none" -}}
{{- if empty $exposure.hostnames -}}
{{- fail "ingress.exposure.hostnames is empty: name the host that App Store Connect will have" -}}
{{- end -}}
{{- if and (eq $exposure.kind "gateway") (empty $exposure.gateways) -}}
{{- fail "ingress.exposure.gateways is empty: name the Gateway to attach to, as [{name: public, namespace: gateways}]" -}}
{{- end -}}
{{- if and (eq $exposure.kind "gateway") $exposure.tlsSecretName -}}
{{- fail "ingress.exposure.tlsSecretName is for kind ingress: with a Gateway the certificate is its listener's. Leave it out" -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.topics.manage "strimzi") (empty .Values.topics.strimzi.cluster) -}}
{{- fail "topics.strimzi.cluster is empty: name the Kafka resource that the topics are for" -}}
{{- end -}}
{{- end -}}

{{/* Where processes listen: a pod is asked on its own address, not on loopback, and each port is one listener's. */}}
{{- define "millrace.listenChecks" -}}
{{- $config := .root.Values.config -}}
{{- $admin := include "millrace.adminPort" .root | int -}}
{{- if eq $admin 0 -}}
{{- fail "config.admin.port is 0, which lets the system choose: probes and Prometheus have to know it. Leave it out, or name a port" -}}
{{- end -}}
{{- $listeners := list (list "admin" "probes and Prometheus") -}}
{{- range $process := .processes -}}
{{- if has $process.name (list "ingress" "console") -}}
{{- if eq (int $process.port) 0 -}}
{{- fail (printf "config.%s.port is 0, which lets the system choose: its Service has to know it. Leave it out, or name a port" $process.name) -}}
{{- end -}}
{{- if eq (int $process.port) $admin -}}
{{- fail (printf "config.%s.port is %d, and so is config.admin.port: the process would not start. Give one of them another port" $process.name $admin) -}}
{{- end -}}
{{- if eq $process.name "ingress" -}}{{- $listeners = append $listeners (list "ingress" "its Service") -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $listener := $listeners -}}
{{- $host := dig (first $listener) "host" "0.0.0.0" $config -}}
{{- if regexMatch "^(127\\..*|::1|localhost)$" $host -}}
{{- fail (printf "config.%s.host is %s, where nobody outside of the pod's container gets: not %s. Leave it out" (first $listener) $host (last $listener)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The console believes the header that names its user: nobody but the proxy that writes it may reach the pod. */}}
{{- define "millrace.consoleChecks" -}}
{{- $example := "as in [{podSelector: {matchLabels: {app.kubernetes.io/name: oauth2-proxy}}}]" -}}
{{- if eq (dig "console" "proxy" "required" .Values.config) "none" -}}
{{- fail "config.console.proxy is none, and then the console listens on loopback only, where nobody reaches it in a pod: leave it out and put an authenticating proxy before it, or run millrace-console on your own machine" -}}
{{- end -}}
{{- if not .Values.networkPolicy.enabled -}}
{{- fail "console.enabled with networkPolicy.enabled false: any pod of the cluster could act in the console as any user. Set networkPolicy.enabled to true, or console.enabled to false" -}}
{{- end -}}
{{- if empty .Values.console.allowFrom -}}
{{- fail (printf "console.allowFrom is empty: any pod of the cluster could act in the console as any user. Name the pods of your authenticating proxy, %s" $example) -}}
{{- end -}}
{{- range $peer := .Values.console.allowFrom -}}
{{- $cidr := dig "ipBlock" "cidr" "" $peer -}}
{{- $labels := concat (values (dig "podSelector" (dict) $peer)) (values (dig "namespaceSelector" (dict) $peer)) -}}
{{- if or (hasSuffix "/0" $cidr) (and (not $cidr) (empty (compact $labels))) -}}
{{- fail (printf "console.allowFrom admits everybody with %s, who could act in the console as any user. Name the pods of your authenticating proxy, %s" (toJson $peer) $example) -}}
{{- end -}}
{{- end -}}
{{- if ne .Values.console.service.type "ClusterIP" -}}
{{- fail (printf "console.service.type is %s, by which people would come past the proxy: leave it ClusterIP, and expose the proxy" .Values.console.service.type) -}}
{{- end -}}
{{- end -}}
