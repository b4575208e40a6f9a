import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonVersion } from "./python.ts";

// bun test/orchestrators/pin.ts NAME... asks the package index for all that the packages in the first line of python/NAME.txt
// need, and writes their versions and digests below it, for both processors. From then on these are installed, and no others.

interface Report {
  readonly install: readonly {
    readonly metadata: { readonly name: string; readonly version: string };
    readonly download_info: { readonly archive_info: { readonly hashes: { readonly sha256: string } } };
  }[];
}

for (const name of process.argv.slice(2)) pin(join(import.meta.dirname, "python", `${name}.txt`));

function pin(path: string): void {
  const [first = ""] = readFileSync(path, "utf8").split("\n");
  const found = resolved(first.replace("#", "").trim().split(/\s+/), "x86_64");
  const others = new Map(resolved([...found.keys()], "aarch64", "--no-deps"));
  const lines = [...found].map(([pinned, digest]) => {
    const digests = new Set([digest, others.get(pinned)]);
    return [pinned, ...[...digests].map((each) => `--hash=sha256:${each}`)].join(" ");
  });
  writeFileSync(path, `${[first, ...lines.sort()].join("\n")}\n`);
}

/** Returns the digests of the wheels that pip would install on a processor, by `name==version`. */
function resolved(
  wanted: readonly string[],
  processor: string,
  ...more: readonly string[]
): ReadonlyMap<string, string> {
  const versions = [17, 24, 26, 27, 28, 31, 34].map((minor) => `manylinux_2_${minor}_${processor}`);
  const platforms = ["any", `manylinux2014_${processor}`, ...versions].flatMap((each) => ["--platform", each]);
  const abis = [`cp${pythonVersion.replace(".", "")}`, "abi3", "none"].flatMap((each) => ["--abi", each]);
  const where = ["--only-binary", ":all:", "--python-version", pythonVersion, "--implementation", "cp"];
  const nothing = ["--quiet", "--dry-run", "--ignore-installed", "--target", tmpdir(), "--report", "-"];
  const words = ["-m", "pip", "install", ...nothing, ...where, ...abis, ...platforms, ...more, ...wanted];
  const { status, stdout, stderr } = spawnSync("python3", words, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`pip: ${stderr}`);
  const { install } = JSON.parse(stdout) as Report;
  return new Map(
    install.map(({ metadata: { name, version }, download_info }) => [
      `${name.toLowerCase().replaceAll("_", "-")}==${version}`,
      download_info.archive_info.hashes.sha256,
    ]),
  );
}
