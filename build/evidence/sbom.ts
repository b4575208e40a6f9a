import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import cyclonedx from "@cyclonedx/cyclonedx-library/package.json";
import { linkedMembers } from "../link/linked-members.ts";
import type { About } from "./about.ts";
import type { Component } from "./components.ts";

type Product = {
  readonly about: About;
  /** The SHA-256 of the executable, in hexadecimal. */
  readonly sha256: string;
  /** The text of ld's map file, which says what it linked; empty for a desk. */
  readonly map: string;
};

/** Returns the path of the bill of materials, which stands beside its executable. */
export function sbomPathOf(executable: string): string {
  return `${executable}.cdx.json`;
}

/**
 * Returns the bill of materials of an executable, as the JSON of CycloneDX 1.6. The same executable gives the same
 * bytes. A static library of which nothing was linked is not in it.
 */
export function sbomOf({ about, sha256, map }: Product): string {
  const bom = new Models.Bom({ serialNumber: `urn:uuid:${uuidOf(sha256)}` });
  const { own, components, source } = about;
  const members = linkedMembers(map);
  bom.metadata = new Models.Metadata({ component: product(about, sha256) });
  if (source.epoch !== null) bom.metadata.timestamp = new Date(source.epoch * 1000);
  bom.metadata.lifecycles.add(Enums.LifecyclePhase.Build);
  bom.metadata.tools.components.add(
    new Models.Component(Enums.ComponentType.Library, cyclonedx.name, { version: cyclonedx.version }),
  );
  for (const each of components) {
    const linked = members.get(each.archive ?? "");
    if (each.archive !== undefined && linked === undefined) continue; // nothing of it was needed
    const model = componentModel(each);
    if (linked !== undefined)
      model.properties.add(new Models.Property(`${own.name}:members`, linked.toSorted().join(" ")));
    bom.components.add(model);
    bom.metadata.component?.dependencies.add(model.bomRef);
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function product({ own, buildInfo }: About, sha256: string): Models.Component {
  const model = componentModel(own);
  model.type = Enums.ComponentType.Application;
  model.hashes.set(Enums.HashAlgorithm["SHA-256"], sha256);
  for (const [key, value] of Object.entries(buildInfo)) {
    model.properties.add(new Models.Property(`${own.name}:${key}`, String(value ?? "unknown")));
  }
  return model;
}

function componentModel({ name, version, license, purl, hash, parts }: Component): Models.Component {
  const model = new Models.Component(Enums.ComponentType.Library, name, { bomRef: purl, purl });
  if (version !== undefined) model.version = version;
  if (hash !== undefined) model.hashes.set(Enums.HashAlgorithm[hash.algorithm], hash.hex);
  model.licenses.add(license.includes(" ") ? new Models.LicenseExpression(license) : new Models.SpdxLicense(license));
  for (const part of parts.map(componentModel)) {
    model.components.add(part);
    model.dependencies.add(part.bomRef);
  }
  return model;
}

/** Makes a UUID of version 8 (RFC 9562), whose content is free, from the executable's digest. */
function uuidOf(sha256: string): string {
  const variant = ((Number.parseInt(sha256.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    sha256.slice(0, 8),
    sha256.slice(8, 12),
    `8${sha256.slice(13, 16)}`,
    variant + sha256.slice(17, 20),
    sha256.slice(20, 32),
  ].join("-");
}
