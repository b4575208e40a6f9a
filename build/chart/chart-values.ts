import { installationOptions } from "../../src/core/cli/cluster/installation-options.ts";
import { wrap } from "../../src/core/cli/help.ts";
import { patterns } from "../../src/core/image/reference.ts";
import { type Schema, type Value, valueOfOption } from "./values.ts";

// All values of the chart: those of the options, and those that are the chart's alone.

const strings = { type: "object", additionalProperties: { type: "string" } };

/** What each component's own pods can be given beside the options. */
function podValues(component: string): readonly Value[] {
  const value = (key: string, initial: unknown, schema: Schema, comment: string) => ({
    path: `${component}.${key}`,
    initial,
    schema,
    comment,
  });
  return [
    value(
      "resources",
      {},
      { type: "object" },
      "the container's resources, in place of those that ebb manifests computes",
    ),
    value("nodeSelector", {}, strings, "labels of the nodes for its pods, beside kubernetes.io/os: linux"),
    value("tolerations", [], { type: "array", items: { type: "object" } }, "the tolerations of its pods"),
    value("affinity", {}, { type: "object" }, "the affinity of its pods"),
    value("podAnnotations", {}, strings, "annotations of its pods, beside the chart's own"),
    value("podLabels", {}, strings, "labels of its pods, beside the chart's own"),
  ];
}

/** Lists all values of the chart, in the order of values.yaml. `repository`: the default of image.repository. */
export function chartValues(repository: string): readonly Value[] {
  const ofOptions = Object.keys(installationOptions).flatMap((key) => valueOfOption(key) ?? []);
  const inside = (parent: string) => ofOptions.filter(({ path }) => path.startsWith(parent));
  const enabled = (component: string, initial: boolean, comment: string): Value => ({
    path: `${component}.enabled`,
    initial,
    comment,
    schema: { type: "boolean" },
  });
  const image = (key: string, initial: string, schema: Schema, comment: string): Value => ({
    path: `image.${key}`,
    initial,
    comment,
    schema: { type: "string", ...schema },
  });
  return [
    {
      path: "fullnameOverride",
      initial: "",
      comment:
        "prefix of all names, in place of the release's name; a second installation in the cluster needs another one\n--name NAME",
      schema: { type: "string", pattern: "^([a-z]([a-z0-9-]{0,38}[a-z0-9])?)?$" },
    },
    image(
      "repository",
      repository,
      { pattern: `^(${patterns.repository})?$` },
      "required: the image that has ebb as /ebb, without its tag: of ebb's own pods, and of the pods that get ebb\n--image IMAGE",
    ),
    image("tag", "", { pattern: `^(${patterns.tag})?$` }, "its tag; default: the chart's appVersion"),
    image("digest", "", { pattern: `^(${patterns.digest})?$` }, "its digest, such as sha256:..."),
    image(
      "pullPolicy",
      "",
      { enum: ["", "Always", "IfNotPresent", "Never"] },
      "when the kubelet pulls it\n--image-pull-policy Always|IfNotPresent|Never",
    ),
    ...ofOptions.filter(({ path }) => !path.includes(".")),
    {
      path: "prometheusRule",
      initial: false,
      comment:
        "add a PrometheusRule of the Prometheus operator, which must be installed, with ebb's alerts; they need podMonitor, or another way to scrape",
      schema: { type: "boolean" },
    },
    enabled("webhook", true, "install the webhook, which puts ebb into pods"),
    ...inside("webhook."),
    ...podValues("webhook"),
    enabled("reaper", false, "install the reaper, which ends the sidecars of pods whose app has ended"),
    ...inside("reaper."),
    ...podValues("reaper"),
  ];
}

/** Prints values.yaml. */
export function printValues(values: readonly Value[]): string {
  const lines = [
    "# Most values are options of `ebb manifests`: the second line of their comment has the flag. Empty: not given.",
  ];
  let parent = "";
  for (const { path, comment, initial } of values) {
    const [key = "", above = ""] = path.split(".").reverse();
    lines.push("");
    if (above !== parent && above !== "") lines.push(`${above}:`);
    parent = above;
    const indent = above === "" ? "" : "  ";
    const begin = `${indent}# `;
    const about = comment.split("\n").map((line) => wrap(line, begin.length + 110, begin).trimEnd());
    lines.push(...about, `${indent}${key}: ${JSON.stringify(initial)}`);
  }
  return `${lines.join("\n").trim()}\n`;
}

/**
 * Returns the schema of the values. In a chart that is a part of another one, Helm adds `global`, and its condition is
 * usually `enabled`.
 */
export function schemaOf(values: readonly Value[]): Schema {
  const properties: Record<string, Schema> = { global: { type: "object" }, enabled: { type: "boolean" } };
  for (const { path, comment, schema, initial } of values) {
    const described = { description: comment.split("\n").join("; "), default: initial, ...schema };
    const [key = "", above = ""] = path.split(".").reverse();
    if (above === "") properties[key] = described;
    else {
      const before = properties[above]?.properties as object | undefined;
      properties[above] = objectOf({ ...before, [key]: described });
    }
  }
  return { $schema: "http://json-schema.org/draft-07/schema#", ...objectOf(properties) };
}

function objectOf(properties: Readonly<Record<string, unknown>>): Schema {
  return { type: "object", additionalProperties: false, properties };
}
