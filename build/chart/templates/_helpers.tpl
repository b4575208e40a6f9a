{{- /* What all names begin with. */}}
{{- define "ebb.fullname" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) }}
{{- $full := .Values.fullnameOverride | default $name | trunc 40 | trimSuffix "-" }}
{{- if not (regexMatch "^[a-z][a-z0-9-]*$" $full) }}
{{- fail (printf "fullnameOverride: no Service can be called %s, which has a dot or no letter first; set it, such as ebb" $full) }}
{{- end }}
{{- $full }}
{{- end }}

{{- /* The labels of all objects; app.kubernetes.io/component stands beside them. */}}
{{- define "ebb.labels" -}}
{{ include "ebb.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end }}

{{- /* The labels that select pods, which cannot be changed later; app.kubernetes.io/component stands beside them. */}}
{{- define "ebb.selectorLabels" -}}
app.kubernetes.io/name: ebb
app.kubernetes.io/instance: {{ include "ebb.fullname" . | quote }}
{{- end }}

{{- define "ebb.image" -}}
{{- required "image.repository: expected an image with ebb at /ebb, such as registry.example.com/ebb" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* imagePullSecrets, whose items are names, or objects with a name. */}}
{{- define "ebb.imagePullSecrets" -}}
{{- range .Values.imagePullSecrets }}
- {{ kindIs "map" . | ternary . (dict "name" .) | toYaml }}
{{- end }}
{{- end }}

{{- /* A label selector as text. */}}
{{- define "ebb.selector" -}}
{{- range $at, $one := . }}
{{- if $at }},{{ end }}
{{- if eq .operator "DoesNotExist" }}!{{ end }}{{ .key }}
{{- if eq .operator "In" }} in ({{ join "," .values }}){{ end }}
{{- if eq .operator "NotIn" }} notin ({{ join "," .values }}){{ end }}
{{- end }}
{{- end }}
