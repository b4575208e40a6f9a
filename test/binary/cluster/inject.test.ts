import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, ebb, ebbPath, temporaryFolder } from "../../harness.ts";

const image = "registry.example.com/ebb:0.1.0";

/** Rendered by a chart: comments, a document without anything, one that is nobody's pod. */
const rendered = `---
# Source: shop/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data:
  enabled: yes   # text to people, a boolean to Kubernetes
  mode: 0644
---
# Source: shop/templates/empty.yaml
---
# Source: shop/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
    name:      web
    namespace: shop
spec:
    template:
        metadata:
            annotations:
                ebb.dev/inject: "true"   # opted in
        spec:
            # one container
            containers:
            -   name: web
                image: "registry.example.com/web:1"
                command: ['/server']     # the server
                args:
                - --greeting
                - >-
                    a long line, folded
                    over two
---
apiVersion: batch/v1
kind: Job
metadata: {name: left-alone}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: job, image: job, command: [/job]}]}}}
`;

const job = `apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  template:
    metadata:
      annotations: {ebb.dev/inject: "true"}
    spec:
      restartPolicy: Never
      containers:
        - name: report
          image: registry.example.com/report
`;

/** To a file and back: the harness would drop a byte order mark. */
async function inject(stdin: string | Uint8Array, ...flags: readonly string[]): Promise<Ended> {
  using folder = temporaryFolder();
  const [from, to] = [join(folder.path, "stdin"), join(folder.path, "stdout")];
  writeFileSync(from, stdin);
  const through = ["sh", "-c", `exec "$@" < ${from} > ${to}`, "sh"];
  const ended = await ebb(["inject", "--image", image, ...flags], { through });
  return { ...ended, stdout: readFileSync(to, "utf8") };
}

describe("manifests on stdin", () => {
  test("come out with ebb in the pods that ask for it; each line that was there is there still, in its place", async () => {
    const { code, stdout, stderr } = await inject(rendered);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'ebb: Deployment shop/web: injected (web)\nebb: Job left-alone: unchanged: it does not say ebb.dev/inject: "true"\n',
    });
    expect(stdout).toContain("command: ['/ebb.dev/ebb', 'run', '--', '/server']     # the server\n");
    const wanted = rendered.replace("['/server']", "['/ebb.dev/ebb', 'run', '--', '/server']").split("\n");
    const rest = stdout.split("\n");
    for (const line of wanted) {
      const at = rest.indexOf(line);
      expect([line, at >= 0]).toEqual([line, true]);
      rest.splice(0, at + 1);
    }
    expect(stdout).toContain(`image: ${image}\n`);
    expect(stdout).toContain(
      "\n                - >-\n                    a long line, folded\n                    over two\n",
    );
  });

  test("a second time changes nothing, to the byte", async () => {
    const once = await inject(rendered, "--all");
    const twice = await inject(once.stdout, "--all");
    expect([once.code, twice.code, twice.stdout]).toEqual([0, 0, once.stdout]);
    expect(twice.stderr).toContain("Deployment shop/web: unchanged: ebb is in it already");
  });

  test("--all takes those that do not ask for it, too; one that cannot be changed stays as it is, with a warning", async () => {
    const { code, stdout, stderr } = await inject(
      rendered + job.replace('"true"', '""').replace("ebb.dev/inject", "other").replace(/^/, "---\n"),
      "--all",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("command: [/ebb.dev/ebb, run, --, /job]");
    expect(stderr).toContain("Job report: unchanged: it cannot be changed, and did not ask for it\n");
    expect(stderr).toMatch(/^ebb: stdin:\d+: warning: Job report: spec\.template\.spec\.containers\[0\]\.command: /m);
  });

  test("JSON stays JSON, with its indentation and its numbers", async () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", annotations: { "ebb.dev/inject": "true" }, generation: 1 },
      spec: { restartPolicy: "Never", containers: [{ name: "p", image: "p", command: ["/p"] }] },
    };
    const text = JSON.stringify(pod, null, "\t").replace('"generation": 1', '"generation": 9007199254740993.0');
    const { code, stdout } = await inject(`${text}\n`);
    const changed = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(changed.spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/p"]);
    expect(stdout).toContain('\t\t"generation": 9007199254740993.0\n');
    const shape = JSON.stringify(changed, null, "\t").replace(
      /"generation": [^\n]*/,
      '"generation": 9007199254740993.0',
    );
    expect(stdout).toBe(`${shape}\n`);
    const lines = `${JSON.stringify(pod)}\n${JSON.stringify({ kind: "List", items: [pod] })}\n`;
    const stream = await inject(lines);
    const values = stream.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect([stream.code, values.length, values[1].items[0].spec]).toEqual([0, 2, values[0].spec]);
  });

  test.each([
    ["nothing", ""],
    ["comments alone", "# nothing\n---\n# here\n"],
    ["no objects of Kubernetes", "- 1\n---\ntext\n---\n{a: b}\n"],
    ["Windows' line breaks and a byte order mark", "\ufeffkind: ConfigMap\r\ndata: {a: on}\r\n"],
    ["a file without a last line break", "kind: ConfigMap\ndata:\n  a: |\n    x"],
    ["a key given twice, and an octal number", "kind: ConfigMap\nmode: 0644\nmode: 0755\n"],
    ["anchors and merges", "kind: X\na: &a {b: 1}\nc:\n  <<: *a\n"],
  ])("%s: as it was", async (_, text) => {
    expect(await inject(text)).toMatchObject({ code: 0, stdout: text, stderr: "" });
  });

  test("a list of functions' resources, as kustomize has it, is a list like any other", async () => {
    const list = `apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n${rendered.slice(rendered.indexOf("apiVersion: apps/v1"), rendered.lastIndexOf("---")).replaceAll(/^/gm, "  ").replace("  ", "- ").trimEnd()}\n`;
    const { code, stdout } = await inject(list);
    expect([code, stdout.includes("command: ['/ebb.dev/ebb', 'run', '--', '/server']")]).toEqual([0, true]);
  });
});

describe("ebb taken out of what was injected", () => {
  const objects = (text: string) => Bun.YAML.parse(text);

  test('by ebb.dev/inject: "false": the objects are what they were, and comments stay', async () => {
    const out = (text: string) => text.replace('ebb.dev/inject: "true"', 'ebb.dev/inject: "false"');
    const { stdout: injected } = await inject(rendered);
    const { code, stdout, stderr } = await inject(out(injected));
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("web: removed (web)\n") });
    expect(objects(stdout)).toEqual(objects(out(rendered)));
    for (const comment of rendered.match(/#.*/g) ?? []) expect(stdout).toContain(comment);
  });

  test("by --remove, without an image: of all pods, --all's too", async () => {
    const { stdout: injected } = await inject(rendered, "--all");
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', injected];
    const { code, stdout, stderr } = await ebb(["inject", "--remove"], { through });
    expect(code).toBe(0);
    expect(objects(stdout)).toEqual(objects(rendered));
    expect(stderr).toContain("Job left-alone: removed (job)\n");
    expect(stderr).toMatch(/warning: Deployment shop\/web: .*this asks for ebb again/);
  });

  test("what cannot be taken out is exit code 65, and nothing is printed", async () => {
    const { stdout: injected } = await inject(rendered);
    const renamed = injected.replace("name: web\n                image", "name: other\n                image");
    const { code, stdout, stderr } = await inject(renamed, "--remove");
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain("--remove: it puts nothing into a pod, so leave out --image");
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', renamed];
    const refused = await ebb(["inject", "--remove"], { through });
    expect(refused).toMatchObject({ code: 65, stdout: "", stderr: expect.stringContaining('container "other"') });
  });
});

describe("what cannot be done", () => {
  test("is exit code 65 with all of it named, and nothing printed", async () => {
    const broken = 'kind: Pod\nmetadata:\n  name: "x\n';
    const { code, stdout, stderr } = await inject(`${rendered}---\n${job}---\n${job}---\n${broken}`);
    expect({ code, stdout }).toEqual({ code: 65, stdout: "" });
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines.slice(0, 2)) {
      expect(line).toMatch(/^ebb: stdin:\d+: Job report: spec\.template\.spec\.containers\[0\]\.command: /);
    }
    const text = `${rendered}---\n${job}---\n${job}---\n${broken}`.split("\n");
    const numbers = lines.map((line) => Number(/:(\d+):/.exec(line)?.[1]));
    expect(numbers.slice(0, 2).map((at) => text[at - 1])).toEqual(Array(2).fill("        - name: report"));
    expect(lines[2]).toMatch(/^ebb: stdin:\d+:\d+: /);
  });

  test("a template that was not rendered is recognised", async () => {
    const { code, stderr } = await inject("kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n");
    expect({ code, stderr }).toEqual({
      code: 65,
      stderr: expect.stringMatching(/^ebb: stdin:3:\d+: .*is this a template\? Render it first: helm template CHART/),
    });
  });

  test("an entrypoint that is told makes it possible", async () => {
    const { code, stdout } = await inject(job, "--entrypoint", "report=/report --month 10", "--set", "quit-timeout=9s");
    expect(code).toBe(0);
    const { spec } = (
      Bun.YAML.parse(stdout) as { spec: { template: { spec: { containers: [{ command: string[]; env: object[] }] } } } }
    ).spec.template;
    expect(spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/report", "--month", "10"]);
    expect(spec.containers[0].env).toContainEqual({ name: "EBB_QUIT_TIMEOUT", value: "9s" });
  });

  test.each([
    ["no image", ["inject"], 64, /^ebb: --image: /],
    ["an unknown flag", ["inject", "--image", image, "--nosuch"], 64, /--nosuch/],
    ["--diff and --in-place", ["inject", "--image", image, "-i", "--diff"], 64, /--diff and --in-place/],
    ["--in-place without a file", ["inject", "--image", image, "-i"], 0, /^$/],
    [
      "a file that is not there",
      ["inject", "--image", image, "-f", "/nosuch.yaml"],
      71,
      /\/nosuch\.yaml: no such file/,
    ],
    ["a folder without manifests", ["inject", "--image", image, "-f/proc/self/fdinfo"], 64, /no file here ends with/],
  ])("%s", async (_, args, code, message) => {
    expect(await ebb(args)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(message) });
  });

  test("what is no UTF-8 is refused", async () => {
    expect(await inject(new Uint8Array([0xff, 0xfe, 0x61, 0]))).toMatchObject({
      code: 65,
      stderr: expect.stringContaining("no UTF-8"),
    });
  });

  test("control characters in names do not reach the terminal", async () => {
    const { stderr } = await inject('kind: Pod\nmetadata: {name: "\\e[31mred\\n"}\nspec: {containers: []}\n');
    expect(stderr).toMatch(/^ebb: Pod \\u001b\[31mred\\n: /);
  });
});

describe("files", () => {
  function folderOf(files: Readonly<Record<string, string>>) {
    const folder = temporaryFolder();
    mkdirSync(join(folder.path, "inner"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
    return folder;
  }

  const deployment = rendered.slice(rendered.indexOf("apiVersion: apps/v1"), rendered.lastIndexOf("---"));

  test("and folders of them, in the order of their names, are one stream", async () => {
    using folder = folderOf({
      "b.yaml": "b: 1",
      "a.yml": deployment,
      "c.json": '{"c": 1}\n',
      "d.txt": "d: 1\n",
      "inner/e.yaml": "e: 1\n",
    });
    const { code, stdout } = await ebb(["inject", "--image", image, "-q", "-f", folder.path]);
    expect(code).toBe(0);
    expect(stdout).toStartWith("apiVersion: apps/v1\n");
    expect(stdout).toEndWith('\n---\nb: 1\n---\n{"c": 1}\n');
    const all = await ebb(["inject", "--image", image, "-q", "-R", folder.path]);
    expect(all.stdout).toBe(`${stdout}---\ne: 1\n`);
  });

  test("--in-place writes those that change, through links, with their mode, and leaves nothing else behind", async () => {
    using folder = folderOf({ "a.yaml": deployment, "b.yaml": "b: 1" });
    Bun.spawnSync(["chmod", "640", join(folder.path, "a.yaml")]);
    symlinkSync("../a.yaml", join(folder.path, "inner", "link.yaml"));
    const printed = await ebb(["inject", "--image", image, join(folder.path, "a.yaml")]);
    const written = await ebb([
      "inject",
      "--image",
      image,
      "-i",
      join(folder.path, "inner/link.yaml"),
      join(folder.path, "b.yaml"),
    ]);
    expect(written).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(folder.path, "a.yaml"), "utf8")).toBe(printed.stdout);
    expect(readFileSync(join(folder.path, "b.yaml"), "utf8")).toBe("b: 1");
    const { stdout } = Bun.spawnSync([
      "stat",
      "-c",
      "%a %F",
      join(folder.path, "a.yaml"),
      join(folder.path, "inner/link.yaml"),
    ]);
    expect(stdout.toString()).toBe("640 regular file\n777 symbolic link\n");
    expect(readdirSync(folder.path).toSorted()).toEqual(["a.yaml", "b.yaml", "inner"]);
  });

  test("one that is refused leaves all as they are", async () => {
    using folder = folderOf({ "a.yaml": deployment, "b.yaml": job });
    expect((await ebb(["inject", "--image", image, "-i", folder.path])).code).toBe(65);
    expect(readFileSync(join(folder.path, "a.yaml"), "utf8")).toBe(deployment);
  });

  test("--diff prints a patch that git takes, with exit code 1; 0 where nothing changes", async () => {
    using folder = folderOf({ "a.yaml": rendered });
    const run = (...flags: readonly string[]) =>
      ebb(["inject", "--image", image, "-q", ...flags, "a.yaml"], { cwd: folder.path });
    const [printed, diff] = [await run(), await run("--diff")];
    expect([diff.code, diff.stderr, diff.stdout.split("\n").slice(0, 2)]).toEqual([
      1,
      "",
      ["--- a/a.yaml", "+++ b/a.yaml"],
    ]);
    const applied = Bun.spawnSync(["git", "apply"], { cwd: folder.path, stdin: Buffer.from(diff.stdout) });
    expect([applied.exitCode, applied.stderr.toString()]).toEqual([0, ""]);
    expect(readFileSync(join(folder.path, "a.yaml"), "utf8")).toBe(printed.stdout);
    expect(await run("--diff")).toMatchObject({ code: 0, stdout: "" });
  });

  test.each([
    ["coloured at a terminal", "", true],
    ["but not with NO_COLOR", "NO_COLOR=1 ", false],
  ])("--diff is %s", async (_, env, isColoured) => {
    using folder = folderOf({ "a.yaml": deployment });
    const command = `${env}TERM=xterm ${ebbPath} inject --image ${image} -q --diff a.yaml`;
    const { stdout } = Bun.spawnSync(["script", "-qec", command, "/dev/null"], { cwd: folder.path, stdin: "ignore" });
    expect(stdout.toString().includes("\x1b[32m+")).toBe(isColoured);
  });
});

test("a thousand documents", async () => {
  const one = rendered.slice(rendered.indexOf("apiVersion: apps/v1"), rendered.lastIndexOf("---"));
  const { code, stdout, stderr } = await inject(Array(1000).fill(one).join("---\n"));
  expect([code, stderr.match(/injected/g)?.length, stdout.match(/^---$/gm)?.length]).toEqual([0, 1000, 999]);
}, 120_000);
