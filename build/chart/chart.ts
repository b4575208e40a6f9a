import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import project from "../../package.json";
import { alertsPath } from "../monitoring/monitoring.ts";
import { chartValues, printValues, schemaOf } from "./chart-values.ts";
import { templateOf } from "./templates.ts";
import { alerts, helpers, notes, test } from "./texts.ts";

/** Returns the files of the Helm chart by their paths. `repository`: the default of image.repository. */
export function chartFiles(repository: string): ReadonlyMap<string, string> {
  const values = chartValues(repository);
  return new Map([
    ["Chart.yaml", stringify(about, { lineWidth: 0 })],
    ["values.yaml", printValues(values)],
    ["values.schema.json", `${JSON.stringify(schemaOf(values), undefined, 2)}\n`],
    ["templates/_helpers.tpl", helpers],
    ["templates/webhook.yaml", templateOf("webhook")],
    ["templates/reaper.yaml", templateOf("reaper")],
    ["alerts.yaml", readFileSync(alertsPath, "utf8")],
    ["templates/alerts.yaml", alerts],
    ["templates/NOTES.txt", notes],
    ["templates/tests/webhook.yaml", test],
  ]);
}

const { name, version, description } = project;

const about = {
  apiVersion: "v2",
  name,
  description,
  type: "application",
  version,
  appVersion: version,
  kubeVersion: ">=1.30.0-0", // matchConditions; with -0 a version such as 1.30.1-gke.5 is one, too
  keywords: ["sidecar", "envoy", "istio", "service-mesh", "drain", "job", "webhook"],
};
