import { describe, expect, test } from "bun:test";
import { ebb } from "../../harness/ebb.ts";
import { image, inject, job, refusedJob, rendered } from "./inject-calls.ts";

describe("manifests on stdin", () => {
  test("come out with ebb in the pods that ask for it; each line that was there is there still, in its place", async () => {
    const { code, stdout, stderr } = await inject(rendered);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'ebb: Deployment shop/web: put ebb into web\nebb: Job left-alone: unchanged: it does not say ebb.dev/inject: "true"\n',
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
    expect(twice.stderr).toContain("Deployment shop/web: unchanged: it has ebb already");
  });

  test("--all takes those that do not ask for it, too; one that cannot be changed stays as it is, with a warning", async () => {
    const inTheWay = "          command: [/report]\n          volumeMounts: [{name: tools, mountPath: /ebb.dev}]\n";
    const text = `${rendered}---\n${job.replace("ebb.dev/inject", "other")}${inTheWay}`;
    const { code, stdout, stderr } = await inject(text, "--all");
    expect(code).toBe(0);
    expect(stdout).toContain("command: [/ebb.dev/ebb, run, --, /job]");
    expect(stderr).toContain("Job report: unchanged: it cannot be changed, and does not ask for ebb\n");
    expect(stderr).toMatch(
      /^ebb: stdin:\d+: warning: Job report: .*\.containers\[0\]\.volumeMounts\[0\]\.mountPath: /m,
    );
  });

  test("a Job whose command nobody knows is refused if it asks, and stays as it is if --all takes it; a Deployment gets the drain", async () => {
    const unknown = /: spec\.template\.spec\.containers\[0\]\.command: the command of .* is unknown.*: .*--registries/;
    expect(await inject(job)).toMatchObject({ code: 65, stdout: "", stderr: expect.stringMatching(unknown) });
    const taken = job.replace("ebb.dev/inject", "other");
    const left = await inject(taken, "--all");
    expect([left.code, left.stdout]).toEqual([0, taken]);
    expect(left.stderr).toMatch(unknown);
    expect(await inject(taken)).toMatchObject({ code: 0, stderr: expect.not.stringMatching(unknown) });
    const server = await inject(rendered.replace("                command: ['/server']     # the server\n", ""));
    expect(server.stdout).toMatch(/- name: EBB_POD_GRACE\n.*preStop:\n.*- drain\n/s);
    expect(server.stderr).toStartWith("ebb: Deployment shop/web: added only a drain to web\n");
    expect(server.stderr).toMatch(unknown);
    expect(await inject(server.stdout)).toMatchObject({ code: 0, stdout: server.stdout });
    for (const text of [taken, server.stdout]) {
      const strict = await inject(text, "--strict", "--all");
      expect([strict.code, strict.stdout]).toEqual([65, ""]);
      expect(strict.stderr).toMatch(unknown);
    }
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
    ["objects that are none of Kubernetes'", "resources: [a.yaml]\n---\n{a: b}\n---\nnull\n"],
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
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("web: took ebb out of web\n") });
    expect(objects(stdout)).toEqual(objects(out(rendered)));
    for (const comment of rendered.match(/#.*/g) ?? []) expect(stdout).toContain(comment);
  });

  test("by --remove, without an image: of all pods, --all's too", async () => {
    const { stdout: injected } = await inject(rendered, "--all");
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', injected];
    const { code, stdout, stderr } = await ebb(["inject", "--remove"], { through });
    expect(code).toBe(0);
    expect(objects(stdout)).toEqual(objects(rendered));
    expect(stderr).toContain("Job left-alone: took ebb out of job\n");
    expect(stderr).toMatch(/warning: Deployment shop\/web: .*this asks for ebb again/);
  });

  test("a pod without its ebb.dev/status stays as it is, and a warning says what stays", async () => {
    const { stdout: injected } = await inject(rendered);
    const lost = injected.replaceAll(/^ *"?ebb\.dev\/status.*\n/gm, "");
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', lost];
    const warning =
      /^ebb: stdin:\d+: warning: Deployment shop\/web: .*\[ebb\.dev\/status\]: it is missing, .*"ebb-install".*put the annotation back/m;
    const { code, stdout, stderr } = await ebb(["inject", "--remove"], { through });
    expect({ code, stdout }).toEqual({ code: 0, stdout: lost });
    expect(stderr).toMatch(warning);
    expect(stderr).toContain("Deployment shop/web: unchanged: it has no ebb.dev/status\n");
  });

  test("a --min-drain that no drain of a pod can have is warned of", async () => {
    const { code, stderr } = await inject(rendered, "--set", "min-drain=60s");
    expect(code).toBe(0);
    expect(stderr).toMatch(/warning: Deployment shop\/web: .*: min-drain 60s does not fit into the drain of 24s/);
  });

  test("where its command is not known any more, it is not taken out of a pod that asks for it", async () => {
    const { stdout: injected } = await inject(job, "--entrypoint", "report=/report", "--set", "quit-timeout=9s");
    const later = injected.replace('"entrypoint"', '"entrypoint","image":{"name":"registry.example.com/former"}');
    expect(later).not.toBe(injected);
    const { code, stdout, stderr } = await inject(later);
    expect([code, stdout, stderr]).toEqual([65, "", expect.stringContaining('the command of "report" is unknown')]);
    const taken = later.replace('ebb.dev/inject: "true"', 'ebb.dev/inject: "false"');
    expect(await inject(taken)).toMatchObject({ code: 0, stdout: expect.not.stringContaining("/ebb.dev/ebb") });
  });

  test("what cannot be taken out is exit code 65, and nothing is printed", async () => {
    const { stdout: injected } = await inject(rendered);
    const renamed = injected.replace("name: web\n                image", "name: other\n                image");
    const { code, stdout, stderr } = await inject(renamed, "--remove");
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain("--image, --registries: not usable with --remove, which adds nothing: leave out --image");
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', renamed];
    const refused = await ebb(["inject", "--remove"], { through });
    expect(refused).toMatchObject({ code: 65, stdout: "", stderr: expect.stringContaining('container "other"') });
  });
});

describe("objects of other kinds", () => {
  const asks = 'annotations: {ebb.dev/inject: "true"}';
  const containers = "containers: [{name: app, image: r/app, command: [/app]}]";
  const jobSet = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
    - name: workers # two of them
      replicas: 2
      template:
        spec:
          template:
            metadata:
              annotations:
                ebb.dev/inject: "true"
            spec:
              restartPolicy: Never
              containers:
                - name: worker
                  image: registry.example.com/train
                  command: [/train]
`;
  const pytorchJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: fit}
spec:
  pytorchReplicaSpecs:
    Master:
      restartPolicy: Never
      template:
        metadata: {${asks}}
        spec:
          ${containers}
`;
  const workflow = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: report-}
spec:
  podMetadata: {${asks}}
  templates:
    - name: main
      container: {image: r/report, command: [/report]}
`;
  const knative = `apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    metadata: {${asks}}
    spec:
      ${containers}
`;

  test.each([
    ["JobSet train", "worker", jobSet],
    ["PyTorchJob fit", "app", pytorchJob],
  ])("%s gets ebb by its own restartPolicy, and --remove restores its bytes", async (object, name, text) => {
    const { code, stdout, stderr } = await inject(text, "--strict");
    expect({ code, stderr }).toEqual({ code: 0, stderr: `ebb: ${object}: put ebb into ${name}\n` });
    expect(stdout).toMatch(/EBB_RESTART_POLICY"?, "?value"?: "?Never|name: EBB_RESTART_POLICY\s+value: Never/);
    expect(stdout).not.toContain("preStop");
    expect(stdout.match(/restartPolicy/g)).toHaveLength(1);
    expect((await inject(stdout)).stdout).toBe(stdout);
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', stdout];
    expect(await ebb(["inject", "--remove", "-q"], { through })).toMatchObject({ code: 0, stdout: text });
  });

  test.each([
    ["Workflow report-*", workflow],
    ["Service hello", knative],
  ])("%s stays as it is, and is named with what to do; with --strict that is exit code 65", async (object, text) => {
    const stderr = `ebb: stdin:2: warning: ${object}: left as it is: its controller composes the pods, and may refuse or drop what is added here; ebb webhook changes them at admission\n`;
    expect(await inject(`---\n${text}`)).toMatchObject({ code: 0, stdout: `---\n${text}`, stderr });
    expect(await inject(`---\n${text}`, "--strict", "-q")).toMatchObject({ code: 65, stdout: "", stderr });
    expect(await inject(text.replace('"true"', '"false"'), "--strict")).toMatchObject({ code: 0, stderr: "" });
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', text];
    expect(await ebb(["inject", "--remove"], { through })).toMatchObject({ code: 0, stdout: text, stderr: "" });
  });

  test("OpenShift's Template is looked into, and what is left in it is named at its line", async () => {
    const items = [job, workflow].map((text) => `- ${text.trimEnd().replaceAll("\n", "\n  ")}`);
    const template = `apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n${items.join("\n")}\n`;
    const { code, stdout, stderr } = await inject(template, "--entrypoint", "report=/report");
    expect([code, stdout.includes("/ebb.dev/ebb")]).toEqual([0, true]);
    const line = template.split("\n").indexOf("- apiVersion: argoproj.io/v1alpha1") + 1;
    expect(stderr).toContain("ebb: Job report: put ebb into report\n");
    expect(stderr).toContain(`ebb: stdin:${line}: warning: Workflow report-*: left as it is: `);
  });

  test("--strict makes any warning an error", async () => {
    const text = rendered.replace(
      'ebb.dev/inject: "true"   # opted in',
      'ebb.dev/inject: "true"\n                ebb.dev/entrypoint: /x',
    );
    expect(await inject(text)).toMatchObject({ code: 0, stderr: expect.stringContaining("warning: ") });
    const { code, stdout, stderr } = await inject(text, "--strict");
    expect([code, stdout, stderr.split("\n").length]).toEqual([65, "", 2]);
    expect(stderr).toMatch(/^ebb: stdin:\d+: warning: Deployment shop\/web: /);
  });

  test("a pod for Windows by its node affinity is refused, at the line of the requirement", async () => {
    const affinity = `affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: kubernetes.io/os, operator: In, values: [windows]}
      containers:`;
    const { code, stdout, stderr } = await inject(job.replace("containers:", affinity));
    expect({ code, stdout }).toEqual({ code: 65, stdout: "" });
    expect(stderr).toMatch(
      /^ebb: stdin:15: Job report: spec\.template\.spec\.affinity\.nodeAffinity\..* for Windows\n$/,
    );
  });

  test("a container without a name is said in these words", async () => {
    const { code, stderr } = await inject(jobSet.replace("- name: worker\n ", "- tty: true\n "));
    expect([code, stderr]).toEqual([
      65,
      expect.stringContaining(".spec.containers[0].name: a container without a name\n"),
    ]);
  });
});

describe("what a pod's own words are", () => {
  const podWith = (annotations: string, containers: string) =>
    `kind: Pod\nmetadata: {name: web, labels: {runner-pod: a}, annotations: {ebb.dev/inject: "TRUE"${annotations}}}\nspec: {restartPolicy: Never, containers: [${containers}]}\n`;

  test("true and false are read in the same way in each annotation", async () => {
    const containers = '{name: web, command: ["/web"]}, {name: envoy, image: envoyproxy/envoy}';
    const { code, stderr } = await inject(podWith(', ebb.dev/native: "TRUE"', containers));
    expect([code, stderr]).toEqual([0, expect.stringContaining("Pod web: put ebb into web; made envoy native\n")]);
  });

  test("a pod whose only app must stay as it is, is not said to have an unknown command", async () => {
    const { code, stderr } = await inject(podWith("", '{name: job, command: ["tail", "-f", "/dev/null"]}'));
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("Pod web: unchanged: its command must stay as it is\n"),
    ]);
  });
});

describe("what cannot be done", () => {
  test("is exit code 65 with all of it named, and nothing printed", async () => {
    const broken = 'kind: Pod\nmetadata:\n  name: "x\n';
    const { code, stdout, stderr } = await inject(`${rendered}---\n${refusedJob}---\n${refusedJob}---\n${broken}`);
    expect({ code, stdout }).toEqual({ code: 65, stdout: "" });
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines.slice(0, 2)) {
      expect(line).toMatch(/^ebb: stdin:\d+: Job report: spec\.template\.metadata\.annotations\[ebb\.dev\/drain\]: /);
    }
    const text = `${rendered}---\n${refusedJob}---\n${refusedJob}---\n${broken}`.split("\n");
    const numbers = lines.map((line) => Number(/:(\d+):/.exec(line)?.[1]));
    expect(numbers.slice(0, 2).map((at) => text[at - 1])).toEqual(
      Array(2).fill('      annotations: {ebb.dev/inject: "true", ebb.dev/drain: soon}'),
    );
    expect(lines[2]).toMatch(/^ebb: stdin:\d+:\d+: /);
  });

  test("a template that was not rendered is recognised", async () => {
    const { code, stderr } = await inject("kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n");
    expect({ code, stderr }).toEqual({
      code: 65,
      stderr: expect.stringMatching(/^ebb: stdin:3:\d+: .*is this a template\? Render it first: helm template CHART/),
    });
  });

  test("an entrypoint for no container or image is warned of, also where something is refused; with --strict that is exit code 65", async () => {
    const given = ["--registries", "none", "--entrypoint", "reprot=/report", "--entrypoint", "web=/web"];
    const stray = "no container or image has this name";
    const lines = `ebb: warning: --entrypoint reprot: ${stray}; did you mean report?\nebb: warning: --entrypoint web: ${stray}\n`;
    const named = job.replace("annotations: {", 'annotations: {ebb.dev/entrypoint: "/report", ');
    const { code, stderr } = await inject(named, ...given);
    expect([code, stderr]).toEqual([0, expect.stringContaining(lines)]);
    for (const flags of [given, [...given, "--strict"]])
      expect(await inject(flags === given ? job : named, ...flags)).toMatchObject({
        code: 65,
        stderr: expect.stringContaining(lines),
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
    ["--in-place without a file", ["inject", "--image", image, "-i"], 64, /--in-place: expected files, not stdin/],
    [
      "a file that is not there",
      ["inject", "--image", image, "-f", "/nosuch.yaml"],
      71,
      /\/nosuch\.yaml: cannot access: no such file/,
    ],
    ["a folder without manifests", ["inject", "--image", image, "-f/proc/self/fdinfo"], 64, /no file here ends with/],
  ])("%s", async (_, args, code, message) => {
    expect(await ebb(args)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(message) });
  });

  test("what is no UTF-8 is refused", async () => {
    expect(await inject(new Uint8Array([0xff, 0xfe, 0x61, 0]))).toMatchObject({
      code: 65,
      stderr: expect.stringContaining("not UTF-8 text"),
    });
  });

  test("control characters in names do not reach the terminal", async () => {
    const { stderr } = await inject('kind: Pod\nmetadata: {name: "\\e[31mred\\n"}\nspec: {containers: []}\n');
    expect(stderr).toMatch(/^ebb: Pod \\u001b\[31mred\\n: /);
  });
});
