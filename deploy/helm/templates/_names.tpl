{{- define "prolocutor.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
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

{{/* A service's name as a part of the names of Kubernetes. */}}
{{- define "prolocutor.service" -}}
{{ . | lower | replace "_" "-" | replace " " "-" | replace "." "-" | trunc 20 | trimSuffix "-" }}
{{- end }}

{{- define "prolocutor.environment" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      {{- if .Values.postgresql.existingSecret.name }}
      name: {{ .Values.postgresql.existingSecret.name }}
      key: {{ .Values.postgresql.existingSecret.key }}
      {{- else }}
      name: {{ include "prolocutor.name" . }}
      key: databaseUrl
      {{- end }}
{{- if or .Values.nats.url .Values.nats.existingSecret.name }}
- name: NATS_URL
  valueFrom:
    secretKeyRef:
      {{- if .Values.nats.existingSecret.name }}
      name: {{ .Values.nats.existingSecret.name }}
      key: {{ .Values.nats.existingSecret.key }}
      {{- else }}
      name: {{ include "prolocutor.name" . }}
      key: natsUrl
      {{- end }}
- name: PROLOCUTOR_MESSAGES
  value: $(NATS_URL)
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
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
image: {{ include "prolocutor.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
env: {{ include "prolocutor.environment" . | nindent 2 }}
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
    exec: {command: [sleep, {{ .Values.leave | quote }}]}
{{- end }}
