import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { toolPackages } from "../link/archives.ts";
import type { Target } from "../targets.ts";
import type { About } from "./about.ts";
import { provenanceOf } from "./provenance.ts";
import { sbomOf } from "./sbom.ts";
import { digestOf } from "./sums.ts";

export type Evidence = {
  readonly outfile: string;
  readonly bytes: Uint8Array;
  readonly about: About;
  /** ld's account of what it linked. */
  readonly map: string;
  readonly target: Target;
};

/** What stands beside an executable: its bill of materials and its provenance. */
export function evidencePaths(outfile: string): { readonly sbom: string; readonly provenance: string } {
  return { sbom: `${outfile}.cdx.json`, provenance: `${outfile}.provenance.json` };
}

export function writeEvidence({ outfile, bytes, about, map, target }: Evidence): void {
  const { sbom, provenance } = evidencePaths(outfile);
  const sha256 = digestOf(bytes);
  const tools = toolPackages(target);
  writeFileSync(sbom, sbomOf({ about, sha256, map }));
  writeFileSync(provenance, provenanceOf({ about, name: basename(outfile), sha256, tools, arch: process.arch }));
}
