{{- define "millrace.prefix" -}}
{{- dig "topics" "prefix" "" .Values.config -}}
{{- end -}}

{{- define "millrace.lanes" -}}
{{- int (dig "topics" "lanes" 4 .Values.config) -}}
{{- end -}}

{{/* Whether a librdkafka property is secret, by the same rule as in the programs. Returns "yes" or nothing. */}}
{{- define "millrace.isSecretProperty" -}}
{{- $name := lower . -}}
{{- if has $name (list "ssl.key.pem" "sasl.oauthbearer.config" "sasl.jaas.config") -}}yes
{{- else if and (regexMatch "password|secret|token|passphrase|private" $name) (not (regexMatch "\\.(url|location)$" $name)) -}}yes
{{- end -}}
{{- end -}}

{{/* The brokers' distinct ports, from bootstrapServers and networkPolicy.kafka.ports. JSON list. */}}
{{- define "millrace.brokerPorts" -}}
{{- $ports := list -}}
{{- range $server := splitList "," .Values.config.kafka.bootstrapServers -}}
{{- $ports = append $ports (regexFind "[0-9]+$" (trim $server) | int) -}}
{{- end -}}
{{- range $port := .Values.networkPolicy.kafka.ports -}}{{- $ports = append $ports (int $port) -}}{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{- define "millrace.urlPort" -}}
{{- $parts := urlParse . -}}
{{- $explicit := regexFind ":[0-9]+$" $parts.host | trimPrefix ":" -}}
{{- if $explicit -}}{{- $explicit -}}{{- else if eq $parts.scheme "http" -}}80{{- else if hasPrefix "postgres" $parts.scheme -}}5432{{- else -}}443{{- end -}}
{{- end -}}

{{/* KEDA's Kafka authentication, from config.kafka. Returns {"sasl", "tls", "secrets": […], "configMaps": […]} as JSON. */}}
{{- define "millrace.kedaAuth" -}}
{{- $kafka := .Values.config.kafka -}}
{{- if dig "oauth" "method" "" $kafka -}}
{{- fail "the chart cannot give KEDA the tokens of config.kafka.oauth: set autoscaling.enabled to false" -}}
{{- end -}}
{{- $protocol := get (default (dict) $kafka.properties) "security.protocol" | default "plaintext" | lower -}}
{{- $secrets := list -}}
{{- $configMaps := list -}}
{{- $auth := dict -}}
{{- if hasPrefix "sasl" $protocol -}}
{{- $mechanism := get $kafka.properties "sasl.mechanism" | default (get $kafka.properties "sasl.mechanisms") | default "PLAIN" | upper -}}
{{- $known := dict "PLAIN" "plaintext" "SCRAM-SHA-256" "scram_sha256" "SCRAM-SHA-512" "scram_sha512" -}}
{{- if not (hasKey $known $mechanism) -}}
{{- fail (printf "KEDA does not support sasl.mechanism %s: use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512 in config.kafka.properties, or set autoscaling.enabled to false" $mechanism) -}}
{{- end -}}
{{- $_ := set $auth "sasl" (get $known $mechanism) -}}
{{- range $pair := list (list "username" "sasl.username") (list "password" "sasl.password") -}}
{{- $reference := get (default (dict) $kafka.propertyFiles) (last $pair) -}}
{{- if not $reference -}}
{{- fail (printf "KEDA reads %s only from a Secret: move it to config.kafka.propertyFiles as {secret: …, key: …}, or set autoscaling.enabled to false" (last $pair)) -}}
{{- end -}}
{{- $secrets = append $secrets (dict "parameter" (first $pair) "name" $reference.secret "key" $reference.key) -}}
{{- end -}}
{{- end -}}
{{- if has $protocol (list "ssl" "sasl_ssl") -}}
{{- $_ := set $auth "tls" "enable" -}}
{{- range $pair := list (list "ca" "ssl.ca.location") (list "cert" "ssl.certificate.location") (list "key" "ssl.key.location") -}}
{{- $reference := get $kafka.properties (last $pair) -}}
{{- if kindIs "map" $reference -}}
{{- if $reference.secret -}}
{{- $secrets = append $secrets (dict "parameter" (first $pair) "name" $reference.secret "key" $reference.key) -}}
{{- else -}}
{{- $configMaps = append $configMaps (dict "parameter" (first $pair) "name" $reference.configMap "key" $reference.key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $_ := set $auth "secrets" $secrets -}}
{{- $_ := set $auth "configMaps" $configMaps -}}
{{- $auth | toJson -}}
{{- end -}}
