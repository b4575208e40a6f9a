/** What an executable was made of, for `ebb --version --json`. */
export interface Facts {
  /** Of the source: 40 hexadecimal digits; null where the build could not know it. */
  readonly commit: string | null;
  /** Whether the source differed from that commit. */
  readonly dirty: boolean;
  /** `linux-x64`, `linux-x64-baseline`, `linux-arm64`. */
  readonly target: string;
  readonly bun: string;
  readonly webkit: string;
  readonly musl: string;
  readonly gcc: string;
}

/** Undefined in development: build/evidence/about.ts puts a module of its own in the place of this one. */
export const facts: Facts | undefined = undefined;
