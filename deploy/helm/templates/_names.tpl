{{- define "prolocutor.name" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) }}
{{- include "prolocutor.short" (list $name 40) }}
{{- end }}

{{- define "prolocutor.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "prolocutor.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "prolocutor.files" -}}
{{ .Values.existingConfigMap | default (include "prolocutor.name" .) }}
{{- end }}

{{/* A text as a part of the names of Kubernetes, of at most so many characters. One that cannot stay
     as it is ends with a hash of itself, so that no two fall together. */}}
{{- define "prolocutor.short" -}}
{{- $text := index . 0 }}
{{- $most := index . 1 | int }}
{{- $plain := mustRegexReplaceAll "[^a-z0-9]+" (lower $text) "-" | trimAll "-" }}
{{- if and (eq $plain $text) (le (len $plain) $most) }}
{{- $plain }}
{{- else }}
{{- printf "%s-%s" ($plain | trunc (int (sub $most 9))) (sha256sum $text | trunc 8) | replace "--" "-" | trimPrefix "-" }}
{{- end }}
{{- end }}

{{- define "prolocutor.match" -}}
app.kubernetes.io/instance: {{ index . 0 }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "prolocutor.spread" -}}
topologySpreadConstraints:
  {{- $pair := . }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {{ include "prolocutor.match" $pair | fromYaml | toJson }}}
  {{- end }}
{{- end }}

{{- define "prolocutor.budget" -}}
{{- $name := index . 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels: {{ include "prolocutor.labels" (index . 0) | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{ include "prolocutor.match" (list (index . 0).Release.Name (index . 2)) | nindent 6 }}
{{- end }}

{{/* Of all that pods read when they start: a change restarts them. Secrets that are there already count
     by their version, and only where a cluster can be asked. */}}
{{- define "prolocutor.checksum" -}}
{{- $seen := list .Values.files .Values.postgresql.url .Values.nats.url .Values.operatorKey.value .Values.env }}
{{- with .Values.existingConfigMap }}
{{- $found := lookup "v1" "ConfigMap" $.Release.Namespace . | default dict }}
{{- $seen = append $seen (list $found.data $found.binaryData) }}
{{- end }}
{{- $names := list .Values.postgresql.existingSecret.name .Values.nats.existingSecret.name .Values.operatorKey.existingSecret.name }}
{{- range concat $names .Values.secrets | compact }}
{{- $found := lookup "v1" "Secret" $.Release.Namespace . | default dict }}
{{- $seen = append $seen (dig "metadata" "resourceVersion" "" $found) }}
{{- end }}
{{- $seen | toJson | sha256sum }}
{{- end }}

{{- define "prolocutor.secret" -}}
{{- $given := index . 1 }}
valueFrom:
  secretKeyRef:
    {{- if $given.existingSecret.name }}
    name: {{ $given.existingSecret.name }}
    key: {{ $given.existingSecret.key }}
    {{- else }}
    name: {{ include "prolocutor.name" (index . 0) }}
    key: {{ index . 2 }}
    {{- end }}
{{- end }}

{{- define "prolocutor.environment" -}}
{{- $root := index . 0 }}
{{- with $root.Values }}
{{- if eq (index $ 1) "replica" }}
- name: DATABASE_URL
  {{- include "prolocutor.secret" (list $root .postgresql "databaseUrl") | nindent 2 }}
{{- if or .operatorKey.value .operatorKey.existingSecret.name }}
- name: OPERATOR_KEY
  {{- include "prolocutor.secret" (list $root .operatorKey "operatorKey") | nindent 2 }}
{{- end }}
{{- else }}
# The file names both, and a worker needs neither: it opens no store and no door.
- {name: DATABASE_URL, value: "memory:"}
- {name: OPERATOR_KEY, value: not-for-workers}
{{- end }}
{{- if or .nats.url .nats.existingSecret.name }}
- name: NATS_URL
  {{- include "prolocutor.secret" (list $root .nats "natsUrl") | nindent 2 }}
- name: PROLOCUTOR_MESSAGES
  value: $(NATS_URL)
{{- end }}
{{- with .env }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "prolocutor.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
terminationGracePeriodSeconds: {{ .Values.grace }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: assistant
    configMap: {name: {{ include "prolocutor.files" . }}}
  - name: data
    emptyDir: {}
{{- end }}

{{- define "prolocutor.container" -}}
{{- $role := index . 1 }}
{{- with index . 0 }}
image: {{ include "prolocutor.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
env: {{ include "prolocutor.environment" (list . $role) | nindent 2 }}
{{- with .Values.secrets }}
envFrom:
  {{- range . }}
  - secretRef: {name: {{ . }}}
  {{- end }}
{{- end }}
volumeMounts:
  - {name: assistant, mountPath: /assistant, readOnly: true}
  - {name: data, mountPath: /data}
lifecycle:
  preStop:
    exec: {command: [python, -c, "import time; time.sleep({{ .Values.leave }})"]}
{{- end }}
{{- end }}
