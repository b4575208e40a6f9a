import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { version } from "../../package.json";
import { temporaryFolder } from "../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../..");
const script = join(project, "build/publish.sh");

/** What the script needs of a system, beside a container engine and Helm. */
const system = ["sh", "cat", "cp", "dirname", "mktemp", "rm", "sed"];

/** A stand-in for a program: it writes down its arguments, and the values of a chart that it packs. */
const standIn = (name: string, failing: string) => `#!/bin/sh
echo ${name} "$@" >>"$CALLS"
case "$*" in "package "*) for chart; do :; done; sed -n 's/^  repository: /repository /p' "$chart/values.yaml" >>"$CALLS" ;; esac
${failing === "" ? "" : `case "${name} $*" in "${failing} "*) exit 7 ;; esac`}
`;

interface Given {
  /** The programs of container engines and charts in PATH. */
  readonly programs?: readonly string[];
  /** The call that fails with 7: `docker push`. */
  readonly failing?: string;
}

/** Runs the script. Returns what it called, with TMP for its folder, and how it ended. */
function publish(words: readonly string[], { programs = ["docker", "helm"], failing = "" }: Given = {}) {
  using folder = temporaryFolder();
  const bin = join(folder.path, "bin");
  const temporary = join(folder.path, "temporary");
  for (const each of [bin, temporary]) mkdirSync(each);
  for (const name of system) symlinkSync(Bun.which(name) as string, join(bin, name));
  for (const name of programs) {
    writeFileSync(join(bin, name), standIn(name, failing));
    chmodSync(join(bin, name), 0o755);
  }
  const calls = join(folder.path, "calls");
  writeFileSync(calls, "");
  const env = { PATH: bin, CALLS: calls, TMPDIR: temporary };
  const { exitCode, stdout, stderr } = Bun.spawnSync([script, ...words], { env, cwd: folder.path });
  const left = [...new Bun.Glob("*").scanSync({ cwd: temporary, onlyFiles: false })];
  expect(left).toEqual([]);
  const called = readFileSync(calls, "utf8").replace(new RegExp(`${temporary}/[^/ ]+`, "g"), "TMP");
  return {
    code: exitCode,
    called: called.split("\n").slice(0, -1),
    stdout: stdout.toString(),
    stderr: stderr.toString(),
  };
}

const built = (engine: string, image: string, flags = "") =>
  `${engine} build -f ${project}/Dockerfile.distroless --target scratch -t ${image}${flags} ${project}`;

test("image and chart go into the registry, and the chart has the image as its default", () => {
  const image = "registry.example.com:5000/team/ebb";
  const { code, called, stdout, stderr } = publish(["registry.example.com:5000/team"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(called).toEqual([
    built("docker", `${image}:${version}`),
    `docker push ${image}:${version}`,
    "helm package --destination TMP TMP/ebb",
    `repository ${image}`,
    `helm push TMP/ebb-${version}.tgz oci://registry.example.com:5000/team/charts`,
  ]);
  expect(stdout).toContain(`image  ${image}:${version}\n`);
  expect(stdout).toContain(`helm install ebb oci://registry.example.com:5000/team/charts/ebb --version ${version} `);
  expect(stdout).toContain(`helm pull oci://registry.example.com:5000/team/charts/ebb --version ${version}\n`);
});

test("podman stands in for docker, flags go to the build, and a registry on this machine has no TLS", () => {
  const words = ["localhost:5001", "--platform", "linux/amd64"];
  const { code, called, stdout } = publish(words, { programs: ["podman", "helm"] });
  expect(code).toBe(0);
  expect(stdout).toContain(`helm pull oci://localhost:5001/charts/ebb --version ${version} --plain-http\n`);
  expect(called).toEqual([
    built("podman", `localhost:5001/ebb:${version}`, " --platform linux/amd64"),
    `podman push --tls-verify=false localhost:5001/ebb:${version}`,
    "helm package --destination TMP TMP/ebb",
    "repository localhost:5001/ebb",
    `helm push --plain-http TMP/ebb-${version}.tgz oci://localhost:5001/charts`,
  ]);
});

test.each<[string, readonly string[], string]>([
  ["an engine", ["helm"], "neither docker nor podman is in PATH"],
  ["Helm", ["docker"], "helm is not in PATH"],
])("without %s nothing is called", (_, programs, said) => {
  const { code, called, stderr } = publish(["registry.example.com"], { programs });
  expect({ code, called }).toEqual({ code: 69, called: [] });
  expect(stderr).toStartWith(`publish: ${said}`);
});

test.each<[string, readonly string[], string]>([
  ["none", [], "expected a registry"],
  ["a flag", ["--platform", "linux/amd64"], "expected a registry"],
  ["a scheme", ["https://registry.example.com"], "expected no scheme: build/publish.sh registry.example.com"],
  ["no host", ["team"], "expected a host, such as registry.example.com/team"],
  ["a tag", ["registry.example.com/ebb:1"], "expected HOST[:PORT][/FOLDER]"],
  ["a slash at the end", ["registry.example.com/"], "expected HOST[:PORT][/FOLDER]"],
  ["Docker Hub", ["docker.io/team"], "Docker Hub has no folders"],
])("a registry that is %s is refused", (_, words, said) => {
  const { code, called, stderr } = publish(words);
  expect({ code, called }).toEqual({ code: 64, called: [] });
  expect(stderr).toStartWith("publish: ");
  expect(stderr).toContain(said);
});

test.each<[string, number]>([
  ["docker build", 1],
  ["docker push", 2],
  ["helm package", 4],
  ["helm push", 5],
])("after a failed %s nothing else is done", (failing, calls) => {
  const { code, called, stdout } = publish(["registry.example.com"], { failing });
  expect({ code, calls: called.length }).toEqual({ code: 7, calls });
  expect(stdout).not.toContain("helm install");
});
