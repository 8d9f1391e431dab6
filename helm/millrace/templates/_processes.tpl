{{/*
The processes of this release. Returns {"processes": […]} as JSON. Each process has these keys:

  name       the suffix of resource names, and the component label
  place      the path of its values, for error messages
  kind       Deployment or StatefulSet
  command    the program and its arguments; the configuration file is in MILLRACE_CONFIG
  workers    the names of the workers it runs
  families   the notification families it reads, by worker; `events.<worker>` stands for a topic of events
  grants     the credentials and settings it gets: tls, sharedSecrets, api, receivers, handlers, provider, registry, postgres, privacy, console, alerts
  port       its port besides the admin port; 0: none
  settings   its values
  image      its image
*/}}
{{- define "millrace.processes" -}}
{{- $root := . -}}
{{- $values := .Values -}}
{{- $all := list -}}
{{- if $values.ingress.enabled -}}
{{- $all = append $all (dict "name" "ingress" "place" "ingress" "kind" "Deployment" "command" (list "millrace-ingress")
  "workers" (list) "families" (dict) "grants" (list "tls" "sharedSecrets") "port" (int (dig "ingress" "port" 8080 $values.config))
  "settings" $values.ingress "image" $values.image) -}}
{{- end -}}
{{- $workers := $values.workers -}}
{{- if $workers.subscriptions.enabled -}}
{{- $all = append $all (dict "name" "subscriptions" "place" "workers.subscriptions" "kind" "StatefulSet"
  "command" (list "millrace-subscriptions") "workers" (list "subscriptions")
  "families" (dict "subscriptions" (list "subscriptions" "purchases" "refunds" "renewal-extensions" "advanced-commerce" "consent" "subscription-imports" "unrecognized"))
  "grants" (list "api" "privacy") "port" 0 "settings" $workers.subscriptions "image" $values.image) -}}
{{- end -}}
{{- if $workers.refunds.enabled -}}
{{- $all = append $all (dict "name" "refunds" "place" "workers.refunds" "kind" "StatefulSet" "command" (list "millrace-refunds")
  "workers" (list "refunds") "families" (dict "refunds" (list "refunds" "found-refunds")) "grants" (list "api" "privacy") "port" 0
  "settings" $workers.refunds "image" $values.image) -}}
{{- end -}}
{{- if $workers.renewalExtensions.enabled -}}
{{- $all = append $all (dict "name" "renewal-extensions" "place" "workers.renewalExtensions" "kind" "StatefulSet"
  "command" (list "millrace-renewal-extensions") "workers" (list "renewal-extensions")
  "families" (dict "renewal-extensions" (list "renewal-extensions")) "grants" (list "api" "privacy") "port" 0
  "settings" $workers.renewalExtensions "image" $values.image) -}}
{{- end -}}
{{- if $workers.consumption.enabled -}}
{{- $all = append $all (dict "name" "consumption" "place" "workers.consumption" "kind" "StatefulSet"
  "command" (list "millrace-consumption") "workers" (list "consumption")
  "families" (dict "consumption" (list "consumption-requests" "refunds" "found-refunds")) "grants" (list "api" "provider" "privacy") "port" 0
  "settings" $workers.consumption "image" $values.image) -}}
{{- end -}}
{{- if $workers.decoder.enabled -}}
{{- $all = append $all (dict "name" "decoder" "place" "workers.decoder" "kind" "StatefulSet" "command" (list "millrace-decoder")
  "workers" (list "decoder") "families" (dict "decoder" (append (include "millrace.families" $root | fromJsonArray) "found-refunds"))
  "grants" (list "registry" "privacy") "port" 0 "settings" $workers.decoder "image" $values.image) -}}
{{- end -}}
{{- if $workers.forward.enabled -}}
{{- $names := list -}}
{{- $families := dict -}}
{{- range $name, $entry := default (dict) $values.config.workers -}}
{{- if hasPrefix "forward-" $name -}}
{{- $names = append $names $name -}}
{{- $_ := set $families $name (default (include "millrace.families" $root | fromJsonArray) (dig "settings" "families" (list) (default (dict) $entry))) -}}
{{- end -}}
{{- end -}}
{{- $all = append $all (dict "name" "forward" "place" "workers.forward" "kind" "StatefulSet" "command" (list "millrace-forward")
  "workers" $names "families" $families "grants" (list "receivers" "sharedSecrets" "privacy") "port" 0
  "settings" $workers.forward "image" $values.image) -}}
{{- end -}}
{{- if $workers.http.enabled -}}
{{- $names := list -}}
{{- $families := dict -}}
{{- range $name, $entry := include "millrace.configuredWorkers" $root | fromJson -}}
{{- if dig "handler" "" (default (dict) $entry) -}}
{{- $names = append $names $name -}}
{{- $_ := set $families $name (dig "families" (list) $entry) -}}
{{- else if hasPrefix "webhook-" $name -}}
{{- $names = append $names $name -}}
{{- $events := list -}}
{{- range $worker := default (include "millrace.publishers" $root | fromJsonArray) (dig "settings" "workers" (list) (default (dict) $entry)) -}}
{{- $events = append $events (printf "events.%s" $worker) -}}
{{- end -}}
{{- $_ := set $families $name $events -}}
{{- end -}}
{{- end -}}
{{- $all = append $all (dict "name" "worker" "place" "workers.http" "kind" "StatefulSet" "command" (list "millrace-worker")
  "workers" $names "families" $families "grants" (list "handlers" "api" "privacy") "port" 0
  "settings" $workers.http "image" $values.image) -}}
{{- end -}}
{{- if $workers.together.enabled -}}
{{- $one := dict "name" "workers" "place" "workers.together" "kind" "StatefulSet" "command" (list "millrace" "workers")
  "workers" (list) "families" (dict) "grants" (list) "port" 0 "settings" $workers.together "image" $values.image -}}
{{- $others := list -}}
{{- range $process := $all -}}
{{- if hasPrefix "workers." $process.place -}}
{{- $_ := set $one "command" (concat $one.command $process.workers) -}}
{{- $_ := set $one "workers" (concat $one.workers $process.workers) -}}
{{- $_ := set $one "families" (mergeOverwrite $one.families $process.families) -}}
{{- $_ := set $one "grants" (concat $one.grants $process.grants | uniq) -}}
{{- else -}}
{{- $others = append $others $process -}}
{{- end -}}
{{- end -}}
{{- if not $one.workers -}}
{{- fail "workers.together is enabled, but no worker is: set workers.<name>.enabled of the workers that share its pods" -}}
{{- end -}}
{{- $all = append $others $one -}}
{{- end -}}
{{- if $values.console.enabled -}}
{{- $command := list "millrace-console" -}}
{{- if $values.console.allowActions -}}{{- $command = append $command "--allow-actions" -}}{{- end -}}
{{- if $values.console.showPayloads -}}{{- $command = append $command "--show-payloads" -}}{{- end -}}
{{- $all = append $all (dict "name" "console" "place" "console" "kind" "Deployment" "command" $command
  "workers" (list) "families" (dict) "grants" (list "console" "alerts") "port" (int (dig "console" "port" 8081 $values.config))
  "settings" $values.console "image" $values.image) -}}
{{- end -}}
{{- if $values.postgres.enabled -}}
{{- $all = append $all (dict "name" "postgres" "place" "postgres" "kind" "Deployment" "command" (list "millrace-postgres")
  "workers" (list) "families" (dict) "grants" (list "postgres") "port" 0
  "settings" $values.postgres "image" $values.image) -}}
{{- end -}}
{{- if $values.backfill.enabled -}}
{{- $all = append $all (dict "name" "backfill" "place" "backfill" "kind" "Deployment" "command" (list "millrace" "backfill" "--follow")
  "workers" (list) "families" (dict) "grants" (list "api" "privacy") "port" 0
  "settings" $values.backfill "image" $values.image) -}}
{{- end -}}
{{- range $name, $given := $values.consumers -}}
{{- if $given.enabled -}}
{{- $standard := dict "staticMembership" true "autoscaling" (dict "enabled" false "minReplicas" 1 "maxReplicas" 2 "lagThreshold" 1000) -}}
{{- $consumer := mergeOverwrite $standard (deepCopy $given) -}}
{{- $grants := list "privacy" -}}
{{- if $consumer.appStoreAPI -}}{{- $grants = append $grants "api" -}}{{- end -}}
{{- $all = append $all (dict "name" (printf "consumer-%s" $name) "place" (printf "consumers.%s" $name) "kind" "StatefulSet"
  "command" (default (list) $consumer.command) "workers" (list $name) "families" (dict $name (default (list) $consumer.families))
  "grants" $grants "port" 0 "settings" $consumer "image" $consumer.image) -}}
{{- end -}}
{{- end -}}
{{- dict "processes" $all | toJson -}}
{{- end -}}

{{/* The workers of this release that publish events: those that webhooks read by default. JSON list. */}}
{{- define "millrace.publishers" -}}
{{- $names := list -}}
{{- range $key, $name := dict "subscriptions" "subscriptions" "refunds" "refunds" "renewalExtensions" "renewal-extensions" "consumption" "consumption" "decoder" "decoder" -}}
{{- if dig $key "enabled" false $.Values.workers -}}{{- $names = append $names $name -}}{{- end -}}
{{- end -}}
{{- range $name, $given := .Values.consumers -}}
{{- if $given.enabled -}}{{- $names = append $names $name -}}{{- end -}}
{{- end -}}
{{- range $name := keys (default (dict) .Values.config.workers) -}}
{{- if not (or (hasPrefix "forward-" $name) (hasPrefix "webhook-" $name)) -}}{{- $names = append $names $name -}}{{- end -}}
{{- end -}}
{{- $names | uniq | sortAlpha | toJson -}}
{{- end -}}

{{/* All notification families, from the topic files. JSON list. */}}
{{- define "millrace.families" -}}
{{- $families := list -}}
{{- range $path, $_ := .Files.Glob "files/topics/appstore.notifications.*.yaml" -}}
{{- $families = append $families (base $path | trimPrefix "appstore.notifications." | trimSuffix ".yaml") -}}
{{- end -}}
{{- $families | toJson -}}
{{- end -}}

{{- define "millrace.familyTopic" -}}
{{- if hasPrefix "events." . -}}appstore.{{ . }}{{- else if eq . "found-refunds" -}}appstore.transactions.refunds{{- else if eq . "subscription-imports" -}}millrace.subscription-imports{{- else -}}appstore.notifications.{{ . }}{{- end -}}
{{- end -}}

{{/* A pod's termination grace period: preStopSeconds, shutdown.grace, and 15 s. The process exits by force 5 s after its
grace period; the other 10 s are for a busy node. */}}
{{- define "millrace.terminationGrace" -}}
{{- $grace := include "millrace.seconds" (dict "text" (dig "shutdown" "grace" "25s" .root.Values.config) "key" "config.shutdown.grace") | int -}}
{{- $least := add $grace 5 (int (default 0 .process.settings.preStopSeconds)) -}}
{{- $asked := .process.settings.terminationGracePeriodSeconds -}}
{{- if $asked -}}
{{- if le (int $asked) (int $least) -}}
{{- fail (printf "%s.terminationGracePeriodSeconds is %d, but the process takes up to %d s to stop (preStopSeconds, config.shutdown.grace and 5 s): raise it above that, or remove the key" .process.place (int $asked) (int $least)) -}}
{{- end -}}
{{- int $asked -}}
{{- else -}}
{{- add $least 10 -}}
{{- end -}}
{{- end -}}

{{/* Whether an autoscaler sets the number of replicas. Returns "yes" or nothing. */}}
{{- define "millrace.isScaled" -}}
{{- if dig "autoscaling" "enabled" false .settings -}}yes{{- end -}}
{{- end -}}
