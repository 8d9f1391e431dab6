{{/*
The processes of this release, each as one value that all templates go by: {"processes": […]} as JSON.

  name       what is appended to the release's name, and the component's label
  place      where its values stand, for messages
  kind       Deployment or StatefulSet
  command    the program and its first arguments; --config is in the environment
  workers    names of the workers it runs: their groups, topics and ledgers
  families   notification families it reads, by worker
  grants     credentials it gets: tls, sharedSecrets, api, receivers, provider, console
  port       the port it serves besides the admin port; 0: none
  settings   its own values
  image      where its program is
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
{{- if $workers.refunds.enabled -}}
{{- $all = append $all (dict "name" "refunds" "place" "workers.refunds" "kind" "StatefulSet" "command" (list "millrace-refunds")
  "workers" (list "refunds") "families" (dict "refunds" (list "refunds" "found-refunds")) "grants" (list "api") "port" 0
  "settings" $workers.refunds "image" $values.image) -}}
{{- end -}}
{{- if $workers.renewalExtensions.enabled -}}
{{- $all = append $all (dict "name" "renewal-extensions" "place" "workers.renewalExtensions" "kind" "StatefulSet"
  "command" (list "millrace-renewal-extensions") "workers" (list "renewal-extensions")
  "families" (dict "renewal-extensions" (list "renewal-extensions")) "grants" (list "api") "port" 0
  "settings" $workers.renewalExtensions "image" $values.image) -}}
{{- end -}}
{{- if $workers.consumption.enabled -}}
{{- $all = append $all (dict "name" "consumption" "place" "workers.consumption" "kind" "StatefulSet"
  "command" (list "millrace-consumption") "workers" (list "consumption")
  "families" (dict "consumption" (list "consumption-requests")) "grants" (list "api" "provider") "port" 0
  "settings" $workers.consumption "image" $values.image) -}}
{{- end -}}
{{- if $workers.forward.enabled -}}
{{- $names := list -}}
{{- $families := dict -}}
{{- range $receiver := default (list) $values.config.forward -}}
{{- $name := printf "forward-%s" $receiver.name -}}
{{- $names = append $names $name -}}
{{- $_ := set $families $name (default (include "millrace.families" $root | fromJsonArray) $receiver.families) -}}
{{- end -}}
{{- $all = append $all (dict "name" "forward" "place" "workers.forward" "kind" "StatefulSet" "command" (list "millrace-forward")
  "workers" $names "families" $families "grants" (list "receivers" "sharedSecrets") "port" 0
  "settings" $workers.forward "image" $values.image) -}}
{{- end -}}
{{- if $values.console.enabled -}}
{{- $command := list "millrace-console" -}}
{{- if $values.console.allowActions -}}{{- $command = append $command "--allow-actions" -}}{{- end -}}
{{- if $values.console.showPayloads -}}{{- $command = append $command "--show-payloads" -}}{{- end -}}
{{- $all = append $all (dict "name" "console" "place" "console" "kind" "Deployment" "command" $command
  "workers" (list) "families" (dict) "grants" (list "console") "port" (int (dig "console" "port" 8081 $values.config))
  "settings" $values.console "image" $values.image) -}}
{{- end -}}
{{- if $values.backfill.enabled -}}
{{- $all = append $all (dict "name" "backfill" "place" "backfill" "kind" "Deployment" "command" (list "millrace" "backfill" "--follow")
  "workers" (list) "families" (dict) "grants" (list "api") "port" 0
  "settings" $values.backfill "image" $values.image) -}}
{{- end -}}
{{- range $name, $given := $values.consumers -}}
{{- if $given.enabled -}}
{{- $standard := dict "autoscaling" (dict "enabled" false "minReplicas" 1 "maxReplicas" 2 "lagThreshold" 1000) -}}
{{- $consumer := mergeOverwrite $standard (deepCopy $given) -}}
{{- $grants := list -}}
{{- if $consumer.appStoreAPI -}}{{- $grants = append $grants "api" -}}{{- end -}}
{{- $all = append $all (dict "name" (printf "consumer-%s" $name) "place" (printf "consumers.%s" $name) "kind" "StatefulSet"
  "command" (default (list) $consumer.command) "workers" (list $name) "families" (dict $name (default (list) $consumer.families))
  "grants" $grants "port" 0 "settings" $consumer "image" $consumer.image) -}}
{{- end -}}
{{- end -}}
{{- dict "processes" $all | toJson -}}
{{- end -}}

{{/* Every family the project ships, from its topic files. JSON list. */}}
{{- define "millrace.families" -}}
{{- $families := list -}}
{{- range $path, $_ := .Files.Glob "files/topics/appstore.notifications.*.yaml" -}}
{{- $families = append $families (base $path | trimPrefix "appstore.notifications." | trimSuffix ".yaml") -}}
{{- end -}}
{{- $families | toJson -}}
{{- end -}}

{{/* The topic of a family. */}}
{{- define "millrace.familyTopic" -}}
{{- if eq . "found-refunds" -}}appstore.transactions.refunds{{- else -}}appstore.notifications.{{ . }}{{- end -}}
{{- end -}}

{{/* How long a pod may take to leave: its wait for the load balancer, the process's grace, and 15 s on top: 5 after which
the process ends itself by force, and 10 that a busy node may take. */}}
{{- define "millrace.terminationGrace" -}}
{{- $grace := include "millrace.seconds" (dict "text" (dig "shutdown" "grace" "25s" .root.Values.config) "key" "config.shutdown.grace") | int -}}
{{- $least := add $grace 5 (int (default 0 .process.settings.preStopSeconds)) -}}
{{- $asked := .process.settings.terminationGracePeriodSeconds -}}
{{- if $asked -}}
{{- if le (int $asked) (int $least) -}}
{{- fail (printf "%s.terminationGracePeriodSeconds is %d, and the process takes up to %d s to leave (preStopSeconds, config.shutdown.grace and 5 s): raise it above that, or leave it out" .process.place (int $asked) (int $least)) -}}
{{- end -}}
{{- int $asked -}}
{{- else -}}
{{- add $least 10 -}}
{{- end -}}
{{- end -}}

{{/* Whether something else than these values decides how many replicas a process has: "yes" or nothing. */}}
{{- define "millrace.isScaled" -}}
{{- if dig "autoscaling" "enabled" false .settings -}}yes{{- end -}}
{{- end -}}
