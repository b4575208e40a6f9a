import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { files, imageIn } from "../../build/release/files.ts";
import packageJson from "../../package.json";
import { temporaryFolder } from "../harness/ebb.ts";
import { attachStatements } from "./attach.ts";
import { checkSums, commands, setImage, verifyBlob, verifyChart, verifyImage, verifySbom } from "./page.ts";
import { type Ended, startPublisher } from "./publisher.ts";
import { makeRelease } from "./stand-in.ts";

// The commands of `ebb help verify`, run by the real cosign on what `npm run release:push` has pushed to a real registry.

setDefaultTimeout(120_000);

const { version } = packageJson;
const publisher = await startPublisher();
const { path, registry, name, mustRun, push } = publisher;
const released = join(path, "released");
afterAll(() => publisher[Symbol.asyncDispose]());

/**
 * Runs a command of the page in a folder of downloaded files, as somebody who trusts a key. The variable is all in which
 * this differs from the page: the tests reach no transparency log, so they sign for none.
 */
async function verify(command: string, { folder = released, key = "ours", image = setImage } = {}): Promise<Ended> {
  const trust = `export COSIGN_KEY=${join(path, key)}.pub COSIGN_INSECURE_IGNORE_TLOG=true`;
  return publisher.run(`${trust}; ${image}; ${command}`, folder);
}

beforeAll(async () => {
  makeRelease(released, `${name}:${version}`);
  await push(released);
});

test("the page has these commands", () => {
  const words = ["verify-blob", "--check", "verify", "verify-attestation", "verify"];
  expect(commands.map((command) => command.split(" ")[1])).toEqual(words);
  expect(setImage).not.toBe("");
});

describe("what was released", () => {
  test.each(commands)("%s", async (command) => {
    const { code, stderr } = await verify(command);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("Error") });
  });

  test("the image has a statement about what is in each executable", async () => {
    const sboms = statements((await verify(verifySbom)).stdout);
    const hashes = sboms.map(({ predicate }) => predicate.metadata.component.hashes[0].content);
    const sums = readFileSync(join(released, files.sums), "utf8");
    const executables = [...sums.matchAll(/^(\S+) {2}ebb-linux-\w+$/gm)].map(([, digest = ""]) => digest);
    expect(hashes.toSorted()).toEqual(executables.toSorted());
    const digest = imageIn(released).digest.replace("sha256:", "");
    for (const { subject } of sboms) expect(subject[0].digest).toEqual({ sha256: digest });
  });

  test("each platform of the image is signed, too, and helm takes the chart", async () => {
    const { manifests } = JSON.parse(await mustRun(`skopeo inspect --raw docker://${name}:${version}`));
    expect(manifests).toHaveLength(2);
    for (const { digest } of manifests)
      expect((await verify(verifyImage, { image: `IMAGE=${name}@${digest}` })).code).toBe(0);
    await mustRun(`helm pull oci://${registry.host}/team/charts/ebb --version ${version}`);
    const [pulled, made] = [path, released].map((folder) => readFileSync(join(folder, files.chart)));
    expect(pulled?.equals(made as Buffer)).toBe(true);
  });

  test("may be pushed again", async () => {
    await push(released);
    expect((await verify(verifyImage)).code).toBe(0);
  });
});

describe("what was not released fails", () => {
  test.each(["ebb-linux-x64", "ebb-linux-arm64.cdx.json", "ebb-webhook.yaml", files.chart])(
    "%s with another byte",
    async (file) => {
      using copy = downloaded();
      changeByte(join(copy.path, file));
      expect(await verify(checkSums, { folder: copy.path })).toMatchObject({
        code: 1,
        stdout: expect.stringContaining(`${file}: FAILED`),
      });
      await mustRun(
        `sha256sum ${file} > line && sed -i "/ ${file}$/d" SHA256SUMS && cat line >> SHA256SUMS`,
        copy.path,
      );
      expect((await verify(checkSums, { folder: copy.path })).code).toBe(0);
      expect(await verify(verifyBlob, { folder: copy.path })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("signature"),
      });
    },
  );

  test("all of it, if somebody else's key is the trusted one", async () => {
    for (const command of commands.filter((each) => each.startsWith("cosign"))) {
      const { code, stderr } = await verify(command, { key: "theirs" });
      expect([command, code, stderr]).toEqual([command, 1, expect.stringMatching(/Error: .*signature/)]);
    }
  });

  test("a tag that was moved to an image that nobody signed; the digest still verifies", async () => {
    const other = await pushOther("moved");
    await mustRun(`skopeo copy --all docker://${other} docker://${name}:${version}`);
    const tag = `IMAGE=${name}:${version}`;
    for (const command of [verifyImage, verifySbom]) {
      const { code, stderr } = await verify(command, { image: tag });
      expect(code).not.toBe(0);
      expect(stderr).toMatch(/Error: no (signatures found|matching attestations)/);
      expect((await verify(command)).code).toBe(0);
    }
  });

  test("an image to which the statements about another image were attached", async () => {
    const other = await pushOther("attached");
    const digest = (await mustRun(`skopeo inspect --format '{{.Digest}}' docker://${other}`)).trim();
    const repository = `https://${registry.host}/v2/team/ebb`;
    await attachStatements({ repository, ca: registry.ca, from: imageIn(released).digest, to: digest });
    for (const command of [verifyImage, verifySbom])
      expect(await verify(command, { image: `IMAGE=${name}@${digest}` })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("digest"),
      });
  });

  test("a chart that nobody signed", async () => {
    await mustRun(
      `mkdir -p chart/ebb && printf 'apiVersion: v2\nname: ebb\nversion: ${version}\ndescription: x' > chart/ebb/Chart.yaml`,
    );
    await mustRun(
      `helm package ebb && helm push ebb-${version}.tgz oci://${registry.host}/team/charts`,
      join(path, "chart"),
    );
    expect(await verify(verifyChart)).toMatchObject({
      code: 10,
      stderr: expect.stringContaining("no signatures found"),
    });
  });

  test("release:push refuses a release with a file that is not what SHA256SUMS says", async () => {
    using copy = downloaded();
    changeByte(join(copy.path, "ebb-linux-x64"));
    await expect(push(copy.path)).rejects.toThrow("sha256sum --check --quiet --strict SHA256SUMS: exit code 1");
  });
});

// biome-ignore lint/suspicious/noExplicitAny: statements of several types, written loosely
function statements(stdout: string): any[] {
  const envelopes = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return envelopes.map(({ payload }) => JSON.parse(Buffer.from(payload, "base64").toString()));
}

/** A copy of the files of the release, as somebody may have changed them on the way. */
function downloaded(): ReturnType<typeof temporaryFolder> {
  const copy = temporaryFolder();
  cpSync(released, copy.path, { recursive: true });
  return copy;
}

function changeByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Pushes an image that is not signed, of the same repository, and returns its name. */
async function pushOther(tag: string): Promise<string> {
  const folder = join(path, tag);
  makeRelease(folder, `${name}:${tag}`, tag);
  await mustRun(`skopeo --insecure-policy copy --all oci-archive:${join(folder, files.image)} docker://${name}:${tag}`);
  rmSync(folder, { recursive: true });
  return `${name}:${tag}`;
}
