{{/* The pod template of every process. Takes root and process. */}}
{{- define "millrace.pod" -}}
{{- $root := .root -}}
{{- $process := .process -}}
{{- $settings := $process.settings -}}
{{- $common := $root.Values.pods -}}
{{- $mounts := include "millrace.mounts" . | fromJson -}}
metadata:
  labels:
    {{- include "millrace.labels" (dict "root" $root "component" $process.name) | nindent 4 }}
    {{- with mergeOverwrite (dict) (default (dict) $common.labels) (default (dict) $settings.podLabels) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # The checksum of the settings that this process uses, so that other workers' settings do not restart it.
    checksum/config: {{ include "millrace.configFile" (dict "root" $root "process" $process "own" true) | sha256sum }}
    {{- with mergeOverwrite (dict) (default (dict) $common.annotations) (default (dict) $settings.podAnnotations) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "millrace.serviceAccountName" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ include "millrace.terminationGrace" . }}
  {{- with default $common.priorityClassName $settings.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    {{- include "millrace.podSecurity" $root | nindent 4 }}
  containers:
    - name: {{ $process.name }}
      image: {{ include "millrace.image" (dict "root" $root "image" $process.image) }}
      imagePullPolicy: {{ default "IfNotPresent" $process.image.pullPolicy }}
      {{- with $process.command }}
      command:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      env:
        - name: MILLRACE_CONFIG
          value: /etc/millrace/config/millrace.yaml
        {{- if eq $process.name "console" }}
        # All interfaces: the NetworkPolicy restricts clients, and the console rejects requests without the proxy's header.
        - name: MILLRACE_CONSOLE_HOST
          value: 0.0.0.0
        {{- end }}
        {{- if and $process.workers $settings.staticMembership }}
        # The static member id. A StatefulSet's pod keeps its name, so the group recognizes it after a restart.
        - name: MILLRACE_KAFKA_INSTANCE
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        {{- end }}
        {{- range $name, $value := $settings.env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      ports:
        {{- if $process.port }}
        - name: http
          containerPort: {{ int $process.port }}
        {{- end }}
        - name: admin
          containerPort: {{ include "millrace.adminPort" $root }}
      startupProbe:
        httpGet:
          path: /livez
          port: admin
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet:
          path: /livez
          port: admin
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 3
      readinessProbe:
        httpGet:
          path: /readyz
          port: admin
        periodSeconds: 5
        # Longer than admin.checkTimeout, so that a slow cluster makes /readyz fail with a reason instead of a timeout.
        timeoutSeconds: {{ add (include "millrace.seconds" (dict "text" (dig "admin" "checkTimeout" "3s" $root.Values.config) "key" "config.admin.checkTimeout") | int) 2 }}
        failureThreshold: 2
      {{- if $settings.preStopSeconds }}
      # The pod keeps serving until the load balancer has removed it.
      lifecycle:
        preStop:
          sleep:
            seconds: {{ int $settings.preStopSeconds }}
      {{- end }}
      resources:
        {{- toYaml (default $common.resources $settings.resources) | nindent 8 }}
      securityContext:
        {{- include "millrace.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - name: config
          mountPath: /etc/millrace/config
          readOnly: true
        {{- with $mounts.mounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "millrace.fullname" $root }}
        items:
          - key: {{ $process.name }}.yaml
            path: millrace.yaml
    {{- with $mounts.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if $common.topologySpread }}
  topologySpreadConstraints:
    {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: {{ $common.topologySpread }}
      labelSelector:
        matchLabels:
          {{- include "millrace.selector" (dict "root" $root "component" $process.name) | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- with default $common.nodeSelector $settings.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with default $common.tolerations $settings.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with default $common.affinity $settings.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "millrace.adminPort" -}}
{{- int (dig "admin" "port" 9090 .Values.config) -}}
{{- end -}}
