import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, ebb, temporaryFolder } from "../../harness/ebb.ts";

export const image = "registry.example.com/ebb:0.1.0";

/** Output of a Helm chart: with comments, an empty document, and an object that has no pod. */
export const rendered = `---
# Source: shop/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data:
  enabled: yes   # text to people, a boolean to Kubernetes
  mode: 0644
---
# Source: shop/templates/empty.yaml
---
# Source: shop/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
    name:      web
    namespace: shop
spec:
    template:
        metadata:
            annotations:
                ebb.dev/inject: "true"   # opted in
        spec:
            # one container
            containers:
            -   name: web
                image: "registry.example.com/web:1"
                command: ['/server']     # the server
                args:
                - --greeting
                - >-
                    a long line, folded
                    over two
---
apiVersion: batch/v1
kind: Job
metadata: {name: left-alone}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: job, image: job, command: [/job]}]}}}
`;

export const job = `apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  template:
    metadata:
      annotations: {ebb.dev/inject: "true"}
    spec:
      restartPolicy: Never
      containers:
        - name: report
          image: registry.example.com/report
`;

/** A Job that asks for ebb, and is refused for an annotation. */
export const refusedJob = job.replace('"true"', '"true", ebb.dev/drain: soon');

/**
 * Runs `ebb inject` on a manifest, and asks no registry unless flags name one. It uses files for stdin and stdout,
 * because the harness would drop a byte order mark.
 */
export async function inject(stdin: string | Uint8Array, ...flags: readonly string[]): Promise<Ended> {
  using folder = temporaryFolder();
  const [from, to] = [join(folder.path, "stdin"), join(folder.path, "stdout")];
  writeFileSync(from, stdin);
  const through = ["sh", "-c", `exec "$@" < ${from} > ${to}`, "sh"];
  const registries = flags.includes("--registries") ? [] : ["--registries", "none"];
  const ended = await ebb(["inject", "--image", image, ...registries, ...flags], { through });
  return { ...ended, stdout: readFileSync(to, "utf8") };
}
