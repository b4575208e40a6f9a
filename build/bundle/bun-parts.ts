import type { BunTarget } from "../targets.ts";

/** Others' work that is linked or compiled into Bun. */
export type Part = {
  readonly name: string;
  /** An SPDX expression. */
  readonly license: string;
  /**
   * The names of its licence texts in build/licenses, without `.txt`. If licences are offered, those of the chosen one.
   */
  readonly texts: readonly string[];
  /** The type and name of its package URL: `github/google/brotli`. */
  readonly package: string;
  /** The key of `process.versions` that holds its version or commit; undefined if Bun does not tell it. */
  readonly versionKey?: string;
  /** Only Bun for Linux has it: macOS brings its own, or needs none. */
  readonly isOfLinux?: true;
};

const apache = "Apache-2.0";
const mozilla = "MPL-2.0";
const either = "MIT OR Apache-2.0";
const rustixLicense = "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT";

/**
 * The libraries of Bun's LICENSE.md that are in it on Linux, those of its scripts/build/deps that are missing there,
 * and what its commands show to be in it. (Bun has no bill of materials of its own.) All that Bun 1.4 tells of their
 * versions is in `process.versions`.
 */
const libraries: readonly Part[] = [
  {
    name: "WebKit (JavaScriptCore, WTF, bmalloc, WebCore)",
    license: "LGPL-2.0-or-later AND LGPL-2.1-or-later AND BSD-2-Clause AND BSD-3-Clause",
    texts: ["webkit", "LGPL-2.0", "LGPL-2.1"],
    package: "github/oven-sh/webkit",
    versionKey: "webkit",
  },
  { ...library("boringssl", apache, "oven-sh/boringssl"), versionKey: "boringssl" },
  library("brotli", "MIT", "google/brotli"),
  { ...library("libarchive", "BSD-2-Clause", "libarchive/libarchive"), versionKey: "libarchive" },
  { ...library("lol-html", "BSD-3-Clause", "cloudflare/lol-html"), versionKey: "lolhtml" },
  { ...library("ls-hpack", "MIT", "litespeedtech/ls-hpack"), versionKey: "lshpack" },
  library("ls-qpack", "MIT", "litespeedtech/ls-qpack"),
  library("lsquic", "MIT AND BSD-3-Clause", "litespeedtech/lsquic"),
  { ...library("mimalloc", "MIT", "oven-sh/mimalloc"), versionKey: "mimalloc" },
  { ...library("picohttpparser", "MIT OR Artistic-1.0-Perl", "h2o/picohttpparser"), versionKey: "picohttpparser" },
  { ...library("zstd", "BSD-3-Clause OR GPL-2.0-only", "facebook/zstd"), versionKey: "zstd" },
  library("simdutf", either, "simdutf/simdutf"),
  { ...library("tinycc", "LGPL-2.1-or-later", "oven-sh/tinycc"), texts: ["LGPL-2.1"], versionKey: "tinycc" },
  { ...library("uSockets", apache, "uNetworking/uSockets"), texts: [apache] },
  { ...library("uWebSockets", apache, "uNetworking/uWebSockets"), texts: [apache] },
  { ...library("zlib-ng", "Zlib", "zlib-ng/zlib-ng"), versionKey: "zlib" },
  { ...library("c-ares", "MIT", "c-ares/c-ares"), versionKey: "ares" },
  {
    ...library("icu", "Unicode-3.0 AND ICU AND BSD-2-Clause AND BSD-3-Clause", "unicode-org/icu"),
    versionKey: "icu",
    isOfLinux: true,
  },
  library("base64", "BSD-2-Clause", "aklomp/base64"),
  { ...library("libdeflate", "MIT", "ebiggers/libdeflate"), versionKey: "libdeflate" },
  library("libjpeg-turbo", "IJG AND BSD-3-Clause AND Zlib", "libjpeg-turbo/libjpeg-turbo"),
  library("libspng", "BSD-2-Clause", "randy408/libspng"),
  library("libwebp", "BSD-3-Clause", "webmproject/libwebp"),
  library("highway", "Apache-2.0 OR BSD-3-Clause", "google/highway"),
  library("hdr-histogram", "CC0-1.0 OR BSD-2-Clause", "HdrHistogram/HdrHistogram_c"),
  library("uucode", "MIT AND Unicode-3.0", "jacobsandlund/uucode"),
  { ...library("llhttp", "MIT", "nodejs/llhttp"), versionKey: "llhttp" },
  { name: "SQLite", license: "blessing", texts: ["sqlite"], package: "generic/sqlite", versionKey: "sqlite" },
  { ...library("tigerbeetle (parts of its I/O)", apache, "tigerbeetle/tigerbeetle"), texts: [apache] },
  {
    ...library("libc++abi (__cxa_thread_atexit)", "Apache-2.0 WITH LLVM-exception", "llvm/llvm-project"),
    texts: [apache, "LLVM-exception"],
    isOfLinux: true,
  },
  library("esbuild (ported)", "MIT", "evanw/esbuild", "esbuild"),
  { ...library("TypeScript (its checker)", apache, "microsoft/typescript"), texts: [apache], versionKey: "typescript" },
  library("Node.js (parts of its library)", "MIT", "nodejs/node", "nodejs"),
  library("ESLint (ported)", "MIT", "eslint/eslint", "eslint"),
  library("typescript-eslint (ported)", "MIT", "typescript-eslint/typescript-eslint", "typescript-eslint"),
  library("eslint-plugin-import (ported)", "MIT", "import-js/eslint-plugin-import", "eslint-plugin-import"),
  library("eslint-plugin-n (ported)", "MIT", "eslint-community/eslint-plugin-n", "eslint-plugin-n"),
  library("eslint-plugin-react-hooks (ported)", "MIT", "facebook/react", "eslint-plugin-react-hooks"),
  library("oxlint (ported)", "MIT", "oxc-project/oxc", "oxc"),
  library("Prettier (ported)", "MIT", "prettier/prettier", "prettier"),
  { name: "Mozilla's CA certificates", license: mozilla, texts: [mozilla], package: "generic/ca-certificates" },
];

function library(name: string, license: string, repository: string, text = name): Part {
  return { name, license, texts: [text], package: `github/${repository.toLowerCase()}` };
}

/**
 * The crates of Bun's Cargo.lock whose code is linked: no macros, and no crate that is for other systems or tests only.
 */
const crates: readonly Part[] = [
  ...crateSet([apache], either, [
    ...["allocator-api2", "arrayvec", "base64", "bitflags", "blake2", "block-buffer", "blowfish", "bstr", "bumpalo"],
    ...["cfg-if", "cipher", "cpufeatures", "crossbeam-utils", "crypto-common", "digest", "dtoa", "enum-map", "enumset"],
    ...["equivalent", "errno", "getrandom", "hashbrown", "inout", "itoa", "keccak", "libc", "log", "mime", "once_cell"],
    ...["rust-argon2", "rustc-hash", "scopeguard", "servo_arc", "sha3", "siphasher", "smallvec", "stable_deref_trait"],
    ...["thiserror", "typenum", "zeroize"],
  ]),
  ...crateSet([apache], rustixLicense, ["rustix"]),
  ...crateSet([apache], rustixLicense, ["linux-raw-sys"]).map((crate) => ({ ...crate, isOfLinux: true as const })),
  ...crateSet([apache], "Zlib OR Apache-2.0 OR MIT", ["bytemuck"]),
  ...crateSet([apache], "CC0-1.0 OR MIT-0 OR Apache-2.0", ["constant_time_eq"]),
  ...crateSet(["Unlicense"], "Unlicense OR MIT", ["byteorder", "memchr"]),
  ...crateSet([mozilla], mozilla, ["cssparser", "dtoa-short", "selectors"]),
  ...crateSet([apache, "encoding_rs"], "(Apache-2.0 OR MIT) AND BSD-3-Clause", ["encoding_rs"]),
  ...crateSet(["phf"], "MIT", ["phf", "phf_shared"]),
  ...["bcrypt", "blake2b_simd", "derive_more", "generic-array"].flatMap(ownText("MIT")),
  ...["new_debug_unreachable", "precomputed-hash", "strum", "typed-arena"].flatMap(ownText("MIT")),
  ...["const_format", "foldhash", "konst"].flatMap(ownText("Zlib")),
  ...crateSet(["arrayref"], "BSD-2-Clause", ["arrayref"]),
  ...crateSet(["subtle"], "BSD-3-Clause", ["subtle"]),
  { name: "Rust's standard library", license: either, texts: [apache], package: "github/rust-lang/rust" },
];

function ownText(license: string): (name: string) => readonly Part[] {
  return (name) => crateSet([name], license, [name]);
}

function crateSet(texts: readonly string[], license: string, names: readonly string[]): readonly Part[] {
  return names.map((name) => ({ name, license, texts, package: `cargo/${name}` }));
}

/** The npm packages that Bun's own modules contain. Those for bundles for browsers are cut out (tool-assets.ts). */
const packages: readonly Part[] = ["acorn", "acorn-walk", "punycode"].map((name) => {
  return { name, license: "MIT", texts: [name], package: `npm/${name}` };
});

/** All of others' work in Bun: libraries, Rust crates and npm packages. */
export const bunParts: readonly Part[] = [...libraries, ...crates, ...packages];

/** Returns those of them that are in the Bun for a target. */
export function bunPartsOf({ platform }: BunTarget): readonly Part[] {
  return bunParts.filter(({ isOfLinux }) => isOfLinux !== true || platform === "linux");
}
