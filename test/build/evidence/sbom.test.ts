import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { type About, aboutExecutable } from "../../../build/evidence/about.ts";
import { sbomOf, sbomPathOf } from "../../../build/evidence/sbom.ts";
import { digestOf } from "../../../build/evidence/sums.ts";
import { linkedMembers } from "../../../build/link/linked-members.ts";
import { targetNamed } from "../../../build/targets.ts";
import { ebbPath } from "../../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../../..");
const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));

const schemaOf = (name: string) =>
  read(join(project, "node_modules/@cyclonedx/cyclonedx-library/res/schema", `${name}.SNAPSHOT.schema.json`));
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addFormat("iri-reference", (text) => URL.canParse(text, "x:/"));
ajv.addFormat("idn-email", (text) => text.includes("@"));
for (const name of ["spdx", "jsf-0.82", "cryptography-defs"])
  ajv.addSchema(schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
const validate = ajv.compile(schemaOf("bom-1.6"));

type SbomComponent = { "bom-ref": string; name: string; purl: string; version?: string; components?: SbomComponent[] };

const about = await aboutExecutable({
  entry: join(project, "src", "main.ts"),
  lockfile: join(project, "package-lock.json"),
  target: targetNamed(process.arch),
});
const sha256 = digestOf(readFileSync(ebbPath));

describe("the bill of materials beside the executable", () => {
  const sbom = read(sbomPathOf(ebbPath));
  const all = (sbom.components as SbomComponent[]).flatMap((each) => [each, ...(each.components ?? [])]);

  test("is CycloneDX 1.6, as its schema has it", () => {
    validate(sbom);
    expect(validate.errors ?? []).toEqual([]);
    expect(sbom.specVersion).toBe("1.6");
  });

  test("would not pass with a mistake in it", () => {
    expect(validate({ ...sbom, serialNumber: "1" })).toBe(false);
    expect(validate({ ...sbom, components: [{ type: "library" }] })).toBe(false);
  });

  test("is of this very executable", () => {
    const { component } = sbom.metadata;
    expect(component).toMatchObject({ name: "ebb", hashes: [{ alg: "SHA-256", content: sha256 }] });
    expect(sbom.serialNumber.slice("urn:uuid:".length).slice(0, 8)).toBe(sha256.slice(0, 8));
  });

  test("has what is inside, and nothing of what only builds and tests", () => {
    const names = (sbom.components as SbomComponent[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["Bun", "musl", "libstdc++", "libgcc_eh", "pino", "p-retry", "zod"]));
    expect(names.filter((name) => /typescript|cyclonedx|undici|ajv|sonic-boom/.test(name))).toEqual([]);
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(["boringssl", "icu", "SQLite", "cssparser"]));
  });

  test("names the members of the archives that are linked", () => {
    const membersOf = (name: string): string =>
      sbom.components.find((each: SbomComponent) => each.name === name).properties[0].value;
    expect(membersOf("musl").split(" ")).toEqual(expect.arrayContaining(["waitpid.lo", "write.lo"]));
    expect(membersOf("libstdc++").split(" ")).toContain("mutex.o");
  });

  test("tells how each depends on which, by references that are there, each once", () => {
    const references = [sbom.metadata.component, ...all].map((each) => each["bom-ref"]);
    expect(new Set(references).size).toBe(references.length);
    const pointed = sbom.dependencies.flatMap(({ ref, dependsOn = [] }: { ref: string; dependsOn?: string[] }) => [
      ref,
      ...dependsOn,
    ]);
    expect(pointed.filter((ref: string) => !references.includes(ref))).toEqual([]);
    expect(new Set(pointed)).toEqual(new Set(references));
  });

  test("has a package URL and an SPDX licence for each", () => {
    const ids: string[] = [...schemaOf("spdx").enum, "GCC-exception-3.1", "LLVM-exception"];
    const licences = [about.own, ...about.components].flatMap((each) => [each, ...each.parts]);
    const words = licences.flatMap(({ license }) => license.split(/[ ()]+|\b(?:AND|OR|WITH)\b/).filter(Boolean));
    expect(words.filter((word) => !ids.includes(word))).toEqual([]);
    expect(
      all.filter(({ purl }) => !/^pkg:(npm|cargo|generic|github\/[\w.-]+|deb\/debian)\/[\w.%-]+/.test(purl)),
    ).toEqual([]);
  });
});

describe("a bill of materials", () => {
  const map = "Archive member included to satisfy reference by file (symbol)\n\n/usr/lib/libc.a(exit.lo)\n";
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const of = (source: About["source"]) => ({ about: { ...about, source }, sha256, map });

  test("is the same for the same executable", () => {
    const input = of({ commit, dirty: false, epoch: 12 });
    expect(sbomOf(input)).toBe(sbomOf(input));
  });

  test("has no time of its own: that of the commit, or none", () => {
    const timeOf = (epoch: number | null) => JSON.parse(sbomOf(of({ commit, dirty: false, epoch }))).metadata.timestamp;
    expect(timeOf(1_234_567_890)).toBe("2009-02-13T23:31:30.000Z");
    expect(timeOf(null)).toBeUndefined();
  });

  test("names no archive that nothing was linked of", () => {
    const names = JSON.parse(sbomOf(of({ commit, dirty: false, epoch: 12 }))).components.map(
      ({ name }: SbomComponent) => name,
    );
    expect(names).toContain("musl");
    expect(names).not.toContain("libstdc++");
  });
});

test("ld's map tells at its beginning which members it linked, and later of those that it looked at", () => {
  const map = `Archive member included to satisfy reference by file (symbol)

/usr/lib/gcc/12/libstdc++.a(eh_throw.o)
                              source-0.o (__cxa_throw)
/usr/lib/libc.a(exit.lo)      source-1.o (exit)
/usr/lib/libc.a(abort.lo)
                              /usr/lib/libc.a(exit.lo) (abort)

Discarded input sections

 .text          0x0        0x0 /usr/lib/libc.a(no.lo)

Memory Configuration

LOAD /usr/lib/libc.a
 .text          0x0        0x0 /usr/lib/libc.a(not.lo)
`;
  expect([...linkedMembers(map)]).toEqual([
    ["libstdc++.a", ["eh_throw.o"]],
    ["libc.a", ["exit.lo", "abort.lo"]],
  ]);
});
