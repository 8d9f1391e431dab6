{{/*
Renders a process's millrace.yaml from `config`. References to Secrets and ConfigMaps become mount paths, each running
worker gets an entry under `workers`, and the file omits credentials that the process does not use.
*/}}

{{/* The names of all workers in this release: built-in workers, receivers and consumers. JSON list. */}}
{{- define "millrace.workerNames" -}}
{{- $names := list -}}
{{- range $process := (include "millrace.processes" . | fromJson).processes -}}
{{- $names = concat $names (default (list) $process.workers) -}}
{{- end -}}
{{- if $names -}}{{- $names | uniq | toJson -}}{{- else -}}[]{{- end -}}
{{- end -}}

{{/* `config.workers`, with `config.webhooks.<name>` as the settings of the worker `webhook-<name>`. JSON object. */}}
{{- define "millrace.configuredWorkers" -}}
{{- $entries := deepCopy (default (dict) .Values.config.workers) -}}
{{- range $name, $settings := default (dict) .Values.config.webhooks -}}
{{- $worker := printf "webhook-%s" $name -}}
{{- $entry := default (dict) (get $entries $worker) -}}
{{- $_ := set $entry "settings" (mergeOverwrite (default (dict) $entry.settings) (deepCopy (default (dict) $settings))) -}}
{{- $_ := set $entries $worker $entry -}}
{{- end -}}
{{- $entries | toJson -}}
{{- end -}}

{{/* The rendered value of `workers`: every configured worker, and every running one. JSON object. */}}
{{- define "millrace.workerEntries" -}}
{{- $entries := include "millrace.configuredWorkers" . | fromJson -}}
{{- range $name := include "millrace.workerNames" . | fromJsonArray -}}
{{- if not (get $entries $name) -}}{{- $_ := set $entries $name (dict) -}}{{- end -}}
{{- end -}}
{{- $entries | toJson -}}
{{- end -}}

{{/* The value of `workers` for one process. Only its own workers have `settings` or a `handler`, which may refer to Secrets.
With `own`, only its own workers: the part whose changes restart its pods. JSON object. */}}
{{- define "millrace.processWorkers" -}}
{{- $entries := dict -}}
{{- $names := default (list) .process.workers -}}
{{- $root := . -}}
{{- range $name, $entry := include "millrace.workerEntries" .root | fromJson -}}
{{- $isOwn := has $name $names -}}
{{- $entry := default (dict) $entry -}}
{{- /* A pod removed by autoscaling does not return, so it releases its lanes when it stops. */ -}}
{{- if and $isOwn (not $entry.onStop) (include "millrace.isScaled" (dict "settings" (default (dict) $root.process.settings))) -}}
{{- $_ := set $entry "onStop" "leave" -}}
{{- end -}}
{{- if not $isOwn -}}
{{- range $key := list "settings" "handler" "families" -}}{{- $_ := unset $entry $key -}}{{- end -}}
{{- end -}}
{{- if or $isOwn (not $root.own) -}}{{- $_ := set $entries $name $entry -}}{{- end -}}
{{- end -}}
{{- $entries | toJson -}}
{{- end -}}

{{/* A value in which mount paths replace references. Returns {"value": …} as JSON. */}}
{{- define "millrace.resolved" -}}
{{- $value := . -}}
{{- if kindIs "map" $value -}}
{{- if and (hasKey $value "key") (hasKey $value "secret") -}}
{{- dict "value" (printf "/etc/millrace/secrets/%s/%s" $value.secret $value.key) | toJson -}}
{{- else if and (hasKey $value "key") (hasKey $value "configMap") -}}
{{- dict "value" (printf "/etc/millrace/configmaps/%s/%s" $value.configMap $value.key) | toJson -}}
{{- else if hasKey $value "serviceAccountAudience" -}}
{{- dict "value" "/etc/millrace/token/token" | toJson -}}
{{- else -}}
{{- $result := dict -}}
{{- range $key, $inner := $value -}}
{{- $_ := set $result $key (include "millrace.resolved" $inner | fromJson).value -}}
{{- end -}}
{{- dict "value" $result | toJson -}}
{{- end -}}
{{- else if kindIs "slice" $value -}}
{{- $result := list -}}
{{- range $inner := $value -}}
{{- $result = append $result (include "millrace.resolved" $inner | fromJson).value -}}
{{- end -}}
{{- dict "value" $result | toJson -}}
{{- else -}}
{{- dict "value" $value | toJson -}}
{{- end -}}
{{- end -}}

{{/* All references in a value. Returns {"references": […]} as JSON. */}}
{{- define "millrace.references" -}}
{{- $value := . -}}
{{- $found := list -}}
{{- if kindIs "map" $value -}}
{{- if or (hasKey $value "serviceAccountAudience") (and (hasKey $value "key") (or (hasKey $value "secret") (hasKey $value "configMap"))) -}}
{{- $found = append $found $value -}}
{{- else -}}
{{- range $key := keys $value | sortAlpha -}}
{{- $found = concat $found (default (list) (include "millrace.references" (get $value $key) | fromJson).references) -}}
{{- end -}}
{{- end -}}
{{- else if kindIs "slice" $value -}}
{{- range $inner := $value -}}
{{- $found = concat $found (default (list) (include "millrace.references" $inner | fromJson).references) -}}
{{- end -}}
{{- end -}}
{{- dict "references" $found | toJson -}}
{{- end -}}

{{/* `config` for one process, without the keys that the process does not use. References are not resolved. JSON. */}}
{{- define "millrace.processConfig" -}}
{{- $grants := .process.grants -}}
{{- $config := deepCopy .root.Values.config -}}
{{- $_ := set $config "workers" (include "millrace.processWorkers" . | fromJson) -}}
{{- $_ := unset $config "webhooks" -}}
{{- range $app := default (list) $config.apps -}}
{{- if not (has "api" $grants) -}}{{- $_ := unset $app "api" -}}{{- end -}}
{{- if not (has "sharedSecrets" $grants) -}}{{- $_ := unset $app "sharedSecretFiles" -}}{{- end -}}
{{- end -}}
{{- if not (has "tls" $grants) -}}
{{- with $config.ingress -}}{{- $_ := unset . "tls" -}}{{- end -}}
{{- end -}}
{{- range $name := list "alerts" "console" "postgres" "privacy" -}}
{{- if not (has $name $grants) -}}{{- $_ := unset $config $name -}}{{- end -}}
{{- end -}}
{{- range $key := list "apps" "workers" -}}
{{- if and (hasKey $config $key) (empty (get $config $key)) -}}{{- $_ := unset $config $key -}}{{- end -}}
{{- end -}}
{{- $config | toJson -}}
{{- end -}}

{{/* The millrace.yaml of one process. */}}
{{- define "millrace.configFile" -}}
{{- (include "millrace.resolved" (include "millrace.processConfig" . | fromJson) | fromJson).value | toYaml -}}
{{- end -}}

{{/* A volume name for a Secret or ConfigMap, whose name may be longer than a volume's and may contain dots. */}}
{{- define "millrace.volumeName" -}}
{{- printf "%s-%s-%s" .kind (.name | replace "." "-" | trunc 40 | trimSuffix "-") (.name | sha256sum | trunc 6) -}}
{{- end -}}

{{/* The volumes and mounts of one process, with only the named keys of each Secret.
Returns {"volumes": […], "mounts": […]} as JSON. */}}
{{- define "millrace.mounts" -}}
{{- $secrets := dict -}}
{{- $configMaps := dict -}}
{{- $volumes := list -}}
{{- $mounts := list -}}
{{- range $reference := (include "millrace.references" (include "millrace.processConfig" . | fromJson) | fromJson).references -}}
{{- if hasKey $reference "secret" -}}
{{- $_ := set $secrets $reference.secret (append (default (list) (get $secrets $reference.secret)) $reference.key | uniq) -}}
{{- else if hasKey $reference "serviceAccountAudience" -}}
{{- $token := dict "audience" $reference.serviceAccountAudience "expirationSeconds" 3600 "path" "token" -}}
{{- $volumes = append $volumes (dict "name" "token" "projected" (dict "defaultMode" 288 "sources" (list (dict "serviceAccountToken" $token)))) -}}
{{- $mounts = append $mounts (dict "name" "token" "mountPath" "/etc/millrace/token" "readOnly" true) -}}
{{- else -}}
{{- $_ := set $configMaps $reference.configMap (append (default (list) (get $configMaps $reference.configMap)) $reference.key | uniq) -}}
{{- end -}}
{{- end -}}
{{- range $name, $keys := $secrets -}}
{{- $items := list -}}
{{- range $key := $keys -}}{{- $items = append $items (dict "key" $key "path" $key) -}}{{- end -}}
{{- $volume := include "millrace.volumeName" (dict "kind" "secret" "name" $name) -}}
{{- $volumes = append $volumes (dict "name" $volume "secret" (dict "secretName" $name "defaultMode" 288 "items" $items)) -}}
{{- $mounts = append $mounts (dict "name" $volume "mountPath" (printf "/etc/millrace/secrets/%s" $name) "readOnly" true) -}}
{{- end -}}
{{- range $name, $keys := $configMaps -}}
{{- $items := list -}}
{{- range $key := $keys -}}{{- $items = append $items (dict "key" $key "path" $key) -}}{{- end -}}
{{- $volume := include "millrace.volumeName" (dict "kind" "configmap" "name" $name) -}}
{{- $volumes = append $volumes (dict "name" $volume "configMap" (dict "name" $name "items" $items)) -}}
{{- $mounts = append $mounts (dict "name" $volume "mountPath" (printf "/etc/millrace/configmaps/%s" $name) "readOnly" true) -}}
{{- end -}}
{{- dict "volumes" $volumes "mounts" $mounts | toJson -}}
{{- end -}}
