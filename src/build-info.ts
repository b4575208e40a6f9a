// Undefined in development: build/evidence/about.ts replaces this module in a build.

/** What an executable was built from, as `ebb --version --json` shows it: the other fields are versions. */
export interface BuildInfo {
  /** The commit of the source, 40 hexadecimal digits; null if the build could not find it out. */
  readonly commit: string | null;
  /** Whether the source differed from that commit. */
  readonly dirty: boolean;
  /** `linux-x64`, `linux-x64-baseline`, `linux-arm64`, `darwin-arm64` or `darwin-x64`. */
  readonly target: string;
  readonly bun: string;
  readonly webkit: string;
  /** Undefined for macOS. */
  readonly musl?: string;
  readonly gcc?: string;
}

export const buildInfo: BuildInfo | undefined = undefined;

/** The text of `ebb --licenses`, compressed with zstd, in base64. */
export const licenses: string | undefined = undefined;

/** The pages of src/manual as a JSON object of Markdown by topic, compressed with zstd, in base64. */
export const pages: string | undefined = undefined;
