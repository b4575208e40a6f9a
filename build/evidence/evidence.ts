import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { toolPackages } from "../link/archives.ts";
import { type BunTarget, isStatic } from "../targets.ts";
import type { About } from "./about.ts";
import { provenanceOf } from "./provenance.ts";
import { sbomOf } from "./sbom.ts";
import { digestOf } from "./sums.ts";

export type Evidence = {
  /** The path of the executable. */
  readonly outfile: string;
  /** The executable. */
  readonly bytes: Uint8Array;
  readonly about: About;
  /** The text of ld's map file, which says what it linked; empty for a desk. */
  readonly map: string;
  readonly target: BunTarget;
};

/** Returns the paths of the two files beside an executable: its bill of materials (CycloneDX) and its provenance. */
export function evidencePaths(outfile: string): { readonly sbom: string; readonly provenance: string } {
  return { sbom: `${outfile}.cdx.json`, provenance: `${outfile}.provenance.json` };
}

/** Writes the bill of materials and the provenance of an executable beside it, over those that are there. */
export function writeEvidence({ outfile, bytes, about, map, target }: Evidence): void {
  const { sbom, provenance } = evidencePaths(outfile);
  const sha256 = digestOf(bytes);
  const tools = isStatic(target) ? toolPackages(target) : [];
  writeFileSync(sbom, sbomOf({ about, sha256, map }));
  writeFileSync(provenance, provenanceOf({ about, name: basename(outfile), sha256, tools, arch: process.arch }));
}
