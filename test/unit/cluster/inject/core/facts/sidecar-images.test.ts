import { expect, test } from "bun:test";
import { isSidecarImage, sidecarImages } from "../../../../../../src/cluster/inject/core/facts/sidecar-images.ts";

test.each([
  "fluent/fluent-bit:4.0",
  "fluent-bit",
  "registry.internal/mirror/fluent-bit:3",
  "registry.internal:5000/mirror/fluent-bit@sha256:00",
  "public.ecr.aws/aws-observability/aws-for-fluent-bit:3.2.1",
  "docker.io/timberio/vector:0.50.0-alpine",
  "harbor.example.com/docker-hub/timberio/vector:0.50.0",
  "gcr.io/datadoghq/agent:7",
  "registry.datadoghq.com/agent:7",
  "ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-contrib:0.158.0",
  "registry.k8s.io/git-sync/git-sync:v4.0.0",
  "oliver006/redis_exporter:v1.78.0",
  "docker.io/bitnamilegacy/jmx-exporter:1.0.1-debian-12-r9",
  "docker.elastic.co/beats/filebeat-wolfi:9.1.0",
  "ghcr.io/shopify/toxiproxy:2.12.0",
  "gke.gcr.io/gcs-fuse-csi-driver-sidecar-mounter:v1.17.1-gke.0@sha256:00",
  "quay.io/prometheuscommunity/postgres-exporter:v0.18.1",
  "openpolicyagent/opa:latest-envoy",
])("%s runs beside an app", (image) => {
  expect(isSidecarImage(image)).toBe(true);
});

test.each([
  "",
  "r.example.com/my-fluent-bit:1",
  "r.example.com/fluent-bit-config:1",
  "r.example.com/fluent-bit/app:1",
  "r.example.com/app:fluent-bit",
  "r.example.com/shop/vector:1",
  "r.example.com/shop/tailscale:1",
  "r.example.com/shop/infrastructure-bundle:1",
  "ghcr.io/buildkite/agent:3",
  "agent",
  "r.example.com/shop/redis-exporter:1",
  "r.example.com/invoice-exporter:1",
  "r.example.com/toString",
])("%s may be an app", (image) => {
  expect(isSidecarImage(image)).toBe(false);
});

test.each(Object.entries(sidecarImages))(
  "%s has a place in a version of a source, and matches itself",
  (name, source) => {
    expect(source).toMatch(/^[\w-]+\/[\w-]+ [0-9a-f]{7,10} \S+:\d+$/);
    expect(isSidecarImage(`r.example.com/${name}:1`)).toBe(true);
  },
);
