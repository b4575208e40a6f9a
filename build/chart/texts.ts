import { webhookOptions } from "../../src/core/cli/cluster/webhook-options.ts";
import { memory } from "../../src/core/cluster/webhook-memory.ts";

// The templates of the chart that have no source in `ebb manifests`.

/** What Helm prints after an installation. */
export const notes = `ebb {{ .Chart.AppVersion }} is installed in the namespace {{ .Release.Namespace }}.
{{- if .Values.webhook.enabled }}
Test it:                                 helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }}
{{- if not .Values.webhook.all }}
New pods of a namespace get ebb after:   kubectl label namespace NAME ebb.dev/inject=true
{{- end }}
Pods that run already get it after:      kubectl -n NAME rollout restart deployment
Look at a pod that gets ebb:             kubectl -n NAME run try --image x --dry-run=server -o yaml --command -- /x
Pods of {{ .Release.Namespace }} and kube-system never get it.
{{- end }}
{{- if .Values.reaper.enabled }}
{{- $ended := .Values.reaper.dryRun | ternary "logged" "ended" }}
{{ printf "Stuck pods are %s after:" $ended | printf "%-40s" }} kubectl label namespace {{ join " " .Values.reaper.reapNamespace | default "NAME" }} ebb.dev/reap=true
{{- if .Values.reaper.allJobs }}
Stuck pods of all Jobs are {{ $ended }}, but for those with ebb.dev/reap: "false".
{{- end }}
{{- end }}
{{- if or .Values.selector (and .Values.webhook.enabled .Values.webhook.namespaceSelector) }}
Pods that selector or webhook.namespaceSelector does not match are left alone.
{{- end }}
What is wrong, and what to do:           ebb doctor
`;

/**
 * The pod of \`helm test\`: it sends the webhook a request as the API server does, to the Service, by the CA that is in the
 * Secret. The object is no pod, so it is let through.
 */
export const test = `{{- if .Values.webhook.enabled }}
{{- $name := printf "%s-webhook" (include "ebb.fullname" .) }}
apiVersion: v1
kind: Pod
metadata:
  name: {{ $name }}-test
  namespace: {{ .Release.Namespace | quote }}
  labels:
    app.kubernetes.io/name: ebb
    app.kubernetes.io/instance: {{ include "ebb.fullname" . | quote }}
    app.kubernetes.io/component: test
    helm.sh/chart: {{ include "ebb.chart" . | quote }}
    app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    ebb.dev/inject: "false"
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with include "ebb.imagePullSecrets" . | fromJsonArray }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . | quote }}
    {{- end }}
  {{- end }}
  nodeSelector:
    {{- include "ebb.nodeSelector" .Values.webhook | fromJson | toYaml | nindent 4 }}
  {{- with .Values.webhook.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    seccompProfile:
      type: RuntimeDefault
  volumes:
    - name: ca
      secret:
        secretName: {{ $name }}-{{ .Values.webhook.certManager | ternary "tls" "certificates" }}
        items:
          - key: ca.crt
            path: ca.crt
  containers:
    - name: test
      image: {{ include "ebb.image" . | quote }}
      {{- with .Values.image.pullPolicy }}
      imagePullPolicy: {{ . | quote }}
      {{- end }}
      command: [/ebb, request, POST, "https://{{ $name }}.{{ .Release.Namespace }}.svc/mutate"]
      args:
        - --header=content-type:application/json
        - --timeout=10s
        - |-
          --body={"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"helm-test","kind":{"group":"","version":"v1","kind":"ConfigMap"},"operation":"CREATE","object":{}}}
      env:
        - name: NODE_EXTRA_CA_CERTS
          value: /ca/ca.crt
      resources:
        requests:
          cpu: 20m
          memory: 64Mi
        limits:
          memory: 128Mi
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: ca
          mountPath: /ca
          readOnly: true
{{- end }}
`;

/**
 * The PrometheusRule: the alerts about what is installed. A CronJob's reaper is not scraped. The groups are a file of
 * their own, because Prometheus and Helm both write {{ }}.
 */
export const alerts = `{{- if .Values.prometheusRule }}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ include "ebb.fullname" . }}
  namespace: {{ .Release.Namespace | quote }}
  labels:
    app.kubernetes.io/name: ebb
    app.kubernetes.io/instance: {{ include "ebb.fullname" . | quote }}
    app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
    helm.sh/chart: {{ include "ebb.chart" . | quote }}
    app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
spec:
  groups:
    {{- range (.Files.Get "alerts.yaml" | fromYaml).groups }}
    {{- $component := get $.Values (trimPrefix "ebb-" .name) }}
    {{- if and $component.enabled (not $component.schedule) }}
    {{- list . | toYaml | nindent 4 }}
    {{- end }}
    {{- end }}
{{- end }}
`;

const usualRequestMiB = webhookOptions.maxRequestBytes.initial / 1024 / 1024;

/** The named templates that the others include. */
export const helpers = `{{- define "ebb.fullname" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) }}
{{- $full := .Values.fullnameOverride | default $name | trunc 40 | trimSuffix "-" }}
{{- if not (regexMatch "^[a-z][a-z0-9-]*$" $full) }}
{{- fail (printf "fullnameOverride: no Service can be called %s, which has a dot or no letter first; set it, such as ebb" $full) }}
{{- end }}
{{- $full }}
{{- end }}

{{- define "ebb.chart" -}}
{{- printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "ebb.image" -}}
{{- required "image.repository: expected the image that has ebb as /ebb, such as registry.example.com/ebb" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The names of imagePullSecrets, as a list in JSON. */}}
{{- define "ebb.imagePullSecrets" -}}
{{- $names := list }}
{{- range .Values.imagePullSecrets }}
{{- $names = append $names (kindIs "map" . | ternary . (dict "name" .)).name }}
{{- end }}
{{- toJson $names }}
{{- end }}

{{- /* The node selector of a component's pods, as JSON. */}}
{{- define "ebb.nodeSelector" -}}
{{- merge dict (.nodeSelector | default dict) (dict "kubernetes.io/os" "linux") | toJson }}
{{- end }}

{{- /* A label selector as kubectl has it. */}}
{{- define "ebb.selector" -}}
{{- range $at, $one := . }}
{{- if $at }},{{ end }}
{{- if eq .operator "DoesNotExist" }}!{{ end }}{{ .key }}
{{- if eq .operator "In" }} in ({{ join "," .values }}){{ end }}
{{- if eq .operator "NotIn" }} notin ({{ join "," .values }}){{ end }}
{{- end }}
{{- end }}

{{- /* The webhook's memory limit, which follows from the largest request. */}}
{{- define "ebb.webhookMemory" -}}
{{- $request := .Values.webhook.maxRequestBytes | default "${usualRequestMiB}Mi" | trimSuffix "Mi" | int }}
{{- $needed := add ${memory.idleMiB} (mul ${memory.biggestAtOnce + memory.timesItsSize} $request) }}
{{- if or .Values.webhook.registries .Values.webhook.registryMirror }}{{ $needed = add $needed ${memory.lookUpsMiB} }}{{ end }}
{{- divf (mulf ${memory.spare} $needed) ${memory.stepMiB} | ceil | int | mul ${memory.stepMiB} }}Mi
{{- end }}
`;
