import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The fields of a bill of materials (CycloneDX) that become an image's labels. */
export type Sbom = {
  readonly metadata: {
    readonly timestamp?: string;
    readonly component: {
      readonly version: string;
      readonly licenses: Licenses;
      readonly hashes: readonly { content: string }[];
      readonly properties: readonly { name: string; value: string }[];
    };
  };
  readonly components: readonly Licensed[];
};
type Licensed = { readonly licenses: Licenses; readonly components?: readonly Licensed[] };
type Licenses = readonly { readonly license?: { id: string }; readonly expression?: string }[];

const project = resolve(import.meta.dirname, "../..");
/** The label that holds the commit. */
export const revisionLabel = "org.opencontainers.image.revision";

/** Returns an image's labels: https://github.com/opencontainers/image-spec/blob/main/annotations.md */
export function imageLabels(sbom: Sbom): Readonly<Record<string, string>> {
  const { description } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const { component, timestamp } = sbom.metadata;
  const property = (name: string): string =>
    component.properties.find((each) => each.name === `ebb:${name}`)?.value ?? "";
  return {
    ...(timestamp !== undefined && { "org.opencontainers.image.created": timestamp }),
    "org.opencontainers.image.title": "ebb",
    "org.opencontainers.image.description": description,
    "org.opencontainers.image.version": component.version,
    [revisionLabel]: `${property("commit")}${property("dirty") === "true" ? "-dirty" : ""}`,
    "org.opencontainers.image.licenses": licensesOf([component, ...sbom.components]),
  };
}

/** Joins the licences of all that is inside to one SPDX expression. */
function licensesOf(all: readonly Licensed[]): string {
  const flat = (each: Licensed): Licensed[] => [each, ...(each.components ?? []).flatMap(flat)];
  const expressions = all.flatMap(flat).flatMap(({ licenses }) =>
    licenses.flatMap(({ license, expression }) => {
      if (license !== undefined) return [license.id];
      return expression?.includes(" OR ") ? [`(${expression})`] : (expression?.split(" AND ") ?? []);
    }),
  );
  return [...new Set(expressions)].toSorted().join(" AND ");
}
