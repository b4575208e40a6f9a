import type { DebianPackage } from "../link/archives.ts";
import type { About } from "./about.ts";
import { debianUrl } from "./components.ts";

export type ProvenanceInput = {
  readonly about: About;
  /** The executable's file name. */
  readonly name: string;
  /** The executable's SHA-256, in hexadecimal. */
  readonly sha256: string;
  /** The Debian packages of the programs that compiled and linked. */
  readonly tools: readonly DebianPackage[];
  /** The architecture of the machine that built, as in `process.arch`. */
  readonly arch: string;
};

/** https://github.com/in-toto/attestation/blob/main/spec/v1/resource_descriptor.md */
type ResourceDescriptor = {
  readonly name?: string;
  readonly uri?: string;
  readonly digest?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
};

/**
 * Returns how an executable was made, as the JSON of an in-toto statement with a provenance of SLSA v1
 * (https://slsa.dev/spec/v1.1/provenance). The same build gives the same bytes. The statement is not signed, and says
 * so.
 */
export function provenanceOf({ about, name, sha256, tools, arch }: ProvenanceInput): string {
  const { buildInfo } = about;
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name, digest: { sha256 } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:ebb:build:v1",
        externalParameters: { target: buildInfo.target },
        internalParameters: { arch },
        resolvedDependencies: [...sourceDescriptor(about), ...inside(about), ...tools.map(toolDescriptor)],
      },
      runDetails: {
        builder: { id: "urn:ebb:builder:unsigned", version: { bun: buildInfo.bun, gcc: buildInfo.gcc } },
        metadata: {
          ebb_signed: false,
          ebb_note:
            "This statement is unsigned. The builder can sign it. Anyone can build the executable again and compare.",
        },
      },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
}

function sourceDescriptor({ source: { commit, dirty }, own: { name } }: About): readonly ResourceDescriptor[] {
  if (commit === null) return [];
  return [{ name, digest: { gitCommit: commit }, ...(dirty && { annotations: { changedSinceCommit: true } }) }];
}

/**
 * Describes the components that this build resolved. The parts of Bun are not among them: Bun's makers resolved those.
 */
function inside({ components }: About): readonly ResourceDescriptor[] {
  return components.map(({ name, purl, hash }) => ({
    name,
    uri: purl,
    ...(hash && { digest: { [hash.algorithm === "SHA-512" ? "sha512" : "sha256"]: hash.hex } }),
  }));
}

function toolDescriptor(tool: DebianPackage): ResourceDescriptor {
  return { name: tool.name, uri: debianUrl(tool) };
}
