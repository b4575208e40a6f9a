import { withoutTag } from "../../../core/containers.ts";

const GCS_FUSE = "gcs-fuse-csi-driver-sidecar-mounter";

/**
 * Images of what runs beside an app and has no end of its own, each with a place that names it. An image is known by the
 * end of its path, so that a mirror of it is known, too. The folder is part of a name that could be an app's: `vector` is
 * none of them, `timberio/vector` is.
 */
export const sidecarImages: Readonly<Record<string, string>> = {
  // log shippers
  "fluent-bit": "fluent/helm-charts 5b81bf7 charts/fluent-bit/values.yaml:10",
  "aws-for-fluent-bit": "aws/eks-charts 5239609 stable/aws-for-fluent-bit/values.yaml:6",
  "fluent-bit-plugin-loki": "grafana/helm-charts 7a0ab9689 charts/fluent-bit/values.yaml:62",
  fluentd: "fluent/helm-charts 5b81bf7 charts/fluent-operator/values.yaml:626",
  "fluentd-kubernetes-daemonset": "fluent/helm-charts 5b81bf7 charts/fluentd/values.yaml:14",
  "timberio/vector": "vectordotdev/helm-charts 6dbdb4a charts/vector/values.yaml:48",
  filebeat: "elastic/helm-charts 2fd64d0a filebeat/values.yaml:179",
  "filebeat-wolfi": "elastic/beats 0a284ff docs/reference/filebeat/running-on-docker.md:32",
  logstash: "elastic/helm-charts 2fd64d0a logstash/values.yaml:73",
  "logstash-oss": "elastic/helm-charts 2fd64d0a logstash/examples/oss/values.yaml:2",
  promtail: "grafana/helm-charts 7a0ab9689 charts/promtail/values.yaml:101",
  universalforwarder: "splunk/docker-splunk 2b6b9d8 docs/EXAMPLES.md:240",

  // agents and collectors of metrics and traces
  "grafana/alloy": "grafana/alloy 66ebea856d docs/sources/set-up/install/docker.md:43",
  "grafana/agent": "grafana/agent 372611b64 operations/helm/charts/grafana-agent/values.yaml:103",
  "datadog/agent": "DataDog/helm-charts 79f7c74fd charts/datadog/values.yaml:40",
  "datadoghq/agent": "DataDog/helm-charts 79f7c74fd charts/datadog/values.yaml:36",
  "registry.datadoghq.com/agent": "DataDog/helm-charts 79f7c74fd charts/datadog/values.yaml:35",
  dogstatsd: "DataDog/helm-charts 79f7c74fd charts/datadog/values.yaml:2158",
  "cloudwatch-agent": "aws/eks-charts 5239609 stable/aws-cloudwatch-metrics/values.yaml:2",
  "elastic-agent": "elastic/elastic-agent 07adab5bc3 deploy/helm/edot-collector/kube-stack/values.yaml:19",
  metricbeat: "elastic/helm-charts 2fd64d0a metricbeat/values.yaml:216",
  telegraf: "influxdata/telegraf-operator 67d4952 main.go:41",
  "newrelic/infrastructure-bundle": "newrelic/nri-kubernetes 22a20cdf charts/newrelic-infrastructure/values.yaml:43",
  "opentelemetry-collector":
    "open-telemetry/opentelemetry-helm-charts dd5665c06 charts/opentelemetry-collector/examples/using-shared-processes/values.yaml:4",
  "opentelemetry-collector-contrib":
    "open-telemetry/opentelemetry-helm-charts dd5665c06 charts/opentelemetry-collector/UPGRADING.md:154",
  "opentelemetry-collector-k8s":
    "open-telemetry/opentelemetry-helm-charts dd5665c06 charts/opentelemetry-operator/values.yaml:57",
  "aws-otel-collector":
    "aws-observability/aws-otel-collector ed0b1d595 deployment-template/eks/otel-cloudwatch-sidecar.yaml:43",
  "splunk-otel-collector":
    "signalfx/splunk-otel-collector-chart 8876653bf helm-charts/splunk-otel-collector/values.yaml:803",
  "jaeger-agent": "jaegertracing/jaeger-operator 87d8ae04 examples/operator-with-tracing.yaml:44",
  "aws-xray-daemon": "aws/aws-xray-daemon 8c295a5 README.md:110",

  // exporters of an app's metrics
  "statsd-exporter": "prometheus-community/helm-charts cf408a290 charts/prometheus-statsd-exporter/values.yaml:9",
  "mysqld-exporter": "prometheus-community/helm-charts cf408a290 charts/prometheus-mysql-exporter/values.yaml:15",
  "prometheuscommunity/postgres-exporter":
    "prometheus-community/helm-charts cf408a290 charts/prometheus-postgres-exporter/values.yaml:5",
  "pgbouncer-exporter": "prometheus-community/helm-charts cf408a290 charts/prometheus-pgbouncer-exporter/values.yaml:6",
  "oliver006/redis-exporter":
    "prometheus-community/helm-charts cf408a290 charts/prometheus-redis-exporter/values.yaml:13",
  "percona/mongodb-exporter":
    "prometheus-community/helm-charts cf408a290 charts/prometheus-mongodb-exporter/values.yaml:21",
  "memcached-exporter": "prometheus-community/helm-charts cf408a290 charts/prometheus-memcached-exporter/values.yaml:8",
  "nginx-prometheus-exporter":
    "prometheus-community/helm-charts cf408a290 charts/prometheus-nginx-exporter/values.yaml:22",
  "php-fpm-exporter": "hipages/php-fpm_exporter 0ef3d97 README.md:7",
  "jmx-exporter": "bitnami/containers 0154b3c bitnami/jmx-exporter/README.md:10",
  "jmx-prometheus-exporter": "sscaling/docker-jmx-prometheus-exporter 91e005e README.md:14",
  "kafka-prometheus-jmx-exporter": "confluentinc/cp-helm-charts 89e8c366 charts/cp-kafka/values.yaml:128",

  // proxies and tunnels
  "cloudflare/cloudflared": "cloudflare/cloudflared d1df7985 README.md:32",
  "kube-rbac-proxy": "brancz/kube-rbac-proxy 898a9f44 examples/non-resource-url-token-request/README.md:81",
  "oauth2-proxy": "oauth2-proxy/manifests fe328b0 helm/oauth2-proxy/values.yaml:210",
  "openshift/oauth-proxy": "openshift/oauth-proxy 2b9ee007 contrib/sidecar.yaml:53",
  "tailscale/tailscale": "tailscale/tailscale 11f7f7d docs/k8s/sidecar.yaml:15",
  gluetun: "qdm12/gluetun b1193252 README.md:98",
  toxiproxy: "Shopify/toxiproxy f48fd7f1 README.md:241",
  pgbouncer: "edoburu/docker-pgbouncer 91a581b README.md:29",
  "crunchy-pgbouncer": "CrunchyData/postgres-operator 0fbac3062 .github/workflows/test.yaml:68",

  // what keeps files up to date, and policies
  "git-sync": "kubernetes/git-sync e2be7fa docs/kubernetes.md:38",
  "k8s-sidecar": "kiwigrid/k8s-sidecar a61c7ac .github/workflows/release.yaml:75",
  "configmap-reload": "grafana/helm-charts 7a0ab9689 charts/promtail/values.yaml:601",
  "prometheus-config-reloader":
    "prometheus-community/helm-charts cf408a290 charts/kube-prometheus-stack/values.yaml:3552",
  [GCS_FUSE]: "GoogleCloudPlatform/gcs-fuse-csi-driver 5fcdc04a deploy/base/node/node.yaml:193",
  "openpolicyagent/opa": "open-policy-agent/opa-envoy-plugin 07a1fd15b quick_start.yaml:53",
};

/** Those through which an app calls. What ships, collects or exports is none: an exporter may even need the app first. */
const calledImages: readonly string[] = [
  "pgbouncer",
  "crunchy-pgbouncer",
  "tailscale/tailscale",
  "gluetun",
  "toxiproxy",
];

/**
 * Reports whether an image is one of `sidecarImages`, whatever its registry, tag and digest. `_` counts as `-`: publishers
 * of exporters write either.
 */
export function isSidecarImage(image: string): boolean {
  return endsOf(image).some((end) => Object.hasOwn(sidecarImages, end));
}

/** Reports whether an image ends with the apps: the driver tells it (gcs-fuse-csi-driver 5fcdc04a pkg/csi_driver/utils.go:420). */
export function endsWithApps(image: string): boolean {
  return endsOf(image).includes(GCS_FUSE);
}

/** Reports whether an app needs nothing of an image from its start. */
export function isNeverCalled(image: string): boolean {
  return isSidecarImage(image) && !endsOf(image).some((end) => calledImages.includes(end));
}

function endsOf(image: string): readonly string[] {
  const path = withoutTag(image).replaceAll("_", "-").split("/");
  return [path.slice(-1), path.slice(-2)].map((end) => end.join("/"));
}
