import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../../src/cluster/inject/core/inject-pod.ts";
import { injectText } from "../../../../src/cluster/inject/inject-text.ts";
import { applySplices } from "../../../../src/cluster/inject/yaml/splice.ts";

const policy = {
  image: "registry.example.com/ebb:0.1.0",
  all: true,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
} as const;

const pod = `metadata:
  name: report
spec:
  containers:
    - name: report
      command: ["/report"]
`;
const job = `  - kind: Job
    metadata:
      name: NAME
      annotations:
        ebb.dev/inject: "true" # MISPLACED
    spec:
      template:
        spec:
          containers:
            - name: app # UNKNOWN
              image: app
`;

test("each remark has the line that it speaks of, also where one after the other goes back in the text", () => {
  const text = `# two\nkind: List\nitems:\n${job.replace("NAME", "one")}${job.replace("NAME", "two")}`;
  const { remarks } = injectText("jobs.yaml", text, (pod) => injectPod(pod, policy));
  const lines = remarks.flatMap((remark) => {
    const [, line, message] = /^jobs\.yaml:(\d+): warning: (.*)/.exec(remark) ?? [];
    return line === undefined
      ? []
      : [[message?.includes("move it to") ? "MISPLACED" : "UNKNOWN", Number(line)] as const];
  });
  const marks = text
    .split("\n")
    .flatMap((line, at) => (/MISPLACED|UNKNOWN/.exec(line) ?? []).map((mark) => [mark, at + 1] as const));
  expect(lines.toSorted()).toEqual(marks.toSorted() as typeof lines);
  expect(lines.map(([mark]) => mark)).toEqual(["UNKNOWN", "MISPLACED", "UNKNOWN", "MISPLACED"]);
});

// kubectl 1.36.3 takes the first five: go-yaml looks at no indent there
test.each<[string, string, string]>([
  ["a quote", "a:\n  b: '\n\n  x'\n", "a.yaml:4:3: a line inside quotes is not indented more than their key or dash: "],
  ["a quote, Windows' breaks", 'a: "\r\n\r\nx"\r\n', "a.yaml:3:1: a line inside quotes is not indented more than "],
  ["brackets", "a:\n  b: [\n  1\n  ]\n", "a.yaml:3:3: a line inside brackets is not indented more than their key or "],
  ["braces", "- - {b: 1,\n  c: 2}\n", "a.yaml:2:3: a line inside braces is not indented more than their key or dash: "],
  ["tabs", "a:\n  b: [\n\t1]\n", "a.yaml:3:2: a line inside brackets is not indented more than their key or dash: "],
  ["a quote that is not closed", "a: 'x\nb: 'y'\n", "before it"],
  ["brackets that are not closed", "a: {b: [1]\nc: 2\n", "or add the } that is missing before it"],
  ["a quote to the end", 'a: "x\n', 'a.yaml:2:1: a closing " is missing'],
  ["brackets to the end", "a: [1\n", "a.yaml:2:1: a closing ] is missing"],
  ["the wrong bracket", "a: [1}\n", "a.yaml:1:6: a closing ] is missing"],
])("an error names the line and what to do: %s", (_, text, message) => {
  const own = message.includes("is not indented") && text.startsWith("a:") ? `${text}kind: Pod\n${pod}` : text;
  const { problems, splices } = injectText("a.yaml", own, (pod) => injectPod(pod, policy));
  expect(problems).toEqual([expect.stringContaining(message)]);
  expect(splices).toEqual([]);
});

const shallow: readonly (readonly [string, string])[] = [
  ["a quote", "  a: '\n\nx ''y'' z\n  x'\n"],
  ["two quotes", '  b: "\n\\"]x\nz"\n  a: "\ny"\n'],
  ["Windows' breaks", '  a: "\r\n\r\nx"\r\n'],
  ["brackets and braces", '  a: [\n1,\n{b: "]",\nc: [\nd]}\n  ]\n'],
  ["a tab", "  a: [\n\t1]\n"],
];

describe("what kubectl reads and the editor of YAML does not", () => {
  const injectedText = (text: string) => {
    const { splices, remarks, problems } = injectText("a.yaml", text, (one) => injectPod(one, policy));
    return { text: applySplices(text, splices), remarks, problems };
  };
  const nothing = { remarks: [], problems: [] };

  test.each(shallow)("passes where nothing is changed: %s", (_, data) => {
    const text = `kind: ConfigMap\ndata:\n${data}  c: d\n`;
    expect(injectedText(text)).toEqual({ text, ...nothing });
    const beside = `${text}---\nkind: Pod\n${pod}`;
    expect(injectedText(beside)).toMatchObject({ remarks: ["Pod report: put ebb into report"], problems: [] });
  });

  test.each(shallow)("is refused where something is: %s", (_, data) => {
    const text = `kind: Pod\nx:\n${data}  c: d\n${pod}`;
    expect(injectedText(text)).toEqual({
      text,
      remarks: [],
      problems: [expect.stringContaining("is not indented more")],
    });
  });

  test("the warning of what stays as it is has its line", () => {
    const text = `kind: Kafka\napiVersion: kafka.strimzi.io/v1\nx: "\n\ny"\nspec: {}\n`;
    expect(injectedText(text).remarks).toEqual([expect.stringContaining("a.yaml:1: warning: Kafka")]);
  });
});

const injected = (text: string) => injectText("it.yaml", text, (one) => injectPod(one, policy));

test("containers that are no list are named at their line, and refuse only a template that asks", () => {
  const metadata = 'metadata: {annotations: {ebb.dev/inject: "true"}}';
  const text = `kind: Deployment\nspec:\n  template:\n    ${metadata}\n    spec:\n      containers:\n        web: {image: x}\n`;
  const message = expect.stringMatching(/^it\.yaml:6: .*spec\.containers: expected a list.*"- name: web"$/);
  expect(injected(text)).toMatchObject({ problems: [message], splices: [] });
  const warning = expect.stringMatching(/^it\.yaml:6: warning: .*spec\.containers: expected a list.*"- name: web"$/);
  const other = injected(text.replace("ebb.dev/inject", "other"));
  expect(other).toMatchObject({ problems: [], warnings: [warning], splices: [] });
});

test("the items of a PodList are changed, and get no kind that they did not have", () => {
  const text = `apiVersion: v1\nkind: PodList\nitems:\n  - ${pod.trimEnd().replaceAll("\n", "\n    ")}\n`;
  const { remarks, splices } = injected(text);
  expect(remarks).toEqual(["Pod report: put ebb into report"]);
  const changed = applySplices(text, splices);
  expect(changed.match(/kind:.*/g)).toEqual(["kind: PodList"]);
  expect(changed).toContain("/ebb.dev/ebb");
});

test("a byte order mark at the start of a file that was put behind another is skipped, as by kubectl", () => {
  const text = `\ufeffkind: Pod\n${pod}---\n\ufeffkind: Pod\n${pod}`;
  const { remarks, problems } = injected(text);
  expect([remarks, problems]).toEqual([Array(2).fill("Pod report: put ebb into report"), []]);
});

describe("what kubectl refuses is refused, with the place and what is expected:", () => {
  const object = "expected an object with apiVersion and kind, got";
  const noComment = "a comment begins with #, and JSON has none";
  const listHint = "write --- between objects, or make them a List's items";
  const json = `{"kind":"Pod",${JSON.stringify(pod)}:1}`;
  const utf16 = (order: "utf-16le" | "swapped") => {
    const bytes = Buffer.from(`kind: Pod\n${pod}`, "utf16le");
    return (order === "swapped" ? bytes.swap16() : bytes).toString("latin1");
  };
  test.each<[string, string, string]>([
    ["a text", "just a text\n", `1:1: ${object} "just a text"`],
    ["a number, after a pod", `kind: Pod\n${pod}---\n42\n`, `9:1: ${object} 42`],
    [
      "a list of objects",
      `# x\n- kind: Pod\n  ${pod.replaceAll("\n", "\n  ")}`,
      `2:1: ${object} a list of 1; ${listHint}`,
    ],
    ["a list in JSON", `[${json}]`, `1:1: ${object} a list of 1; ${listHint}`],
    ["a text among a List's items", "kind: List\nitems:\n  - text\n", `3:5: ${object} "text"`],
    ["nothing among a PodList's items", "kind: PodList\nitems: [null]\n", `2:9: ${object} null`],
    ["JSON behind //", `// x\n{"kind":"Pod"}`, `1:1: ${object} "// x {\\"kind\\":\\"Pod\\"}"; ${noComment}`],
    ["JSON behind /*", `/* x */\n{"kind": "Pod"}`, `1:1: Implicit keys need to be on a single line; ${noComment}`],
    ["JSON with // in it", `{\n  // x\n  "kind": "Pod"\n}`, `2:3: a key must be on one line; ${noComment}`],
    ["JSON with // behind a comma", `{"kind": "Pod", // x\r\n"spec": {}}`, "1:17: a key must be on one line"],
    [
      "UTF-16 without a byte order mark",
      utf16("utf-16le"),
      "1:2: there is a control character U+0000 here, which Kubernetes refuses; if this is UTF-16, convert it to UTF-8 with iconv",
    ],
    [
      "UTF-16, the other way round",
      utf16("swapped"),
      "1:1: there is a control character U+0000 here, which Kubernetes refuses; if this is UTF-16, convert it to UTF-8 with iconv",
    ],
    [
      "another control character",
      "kind: Pod\nmetadata: {name: a\x1b}\n",
      "2:19: there is a control character U+001B here, which Kubernetes refuses",
    ],
    [
      "a second byte order mark",
      `\ufeff\ufeffkind: Pod\n${pod}`,
      "1:2: there is a byte order mark (U+FEFF) here, which is invisible: remove it",
    ],
    [
      "one between keys",
      `kind: Pod\n\ufeff${pod}`,
      "2:1: there is a byte order mark (U+FEFF) here, which is invisible: remove it",
    ],
  ])("%s", (_, text, problem) => {
    expect(injected(text).problems).toEqual([`it.yaml:${problem}`]);
  });

  test.each<[string, (levels: number) => string]>([
    ["in brackets", (levels) => `a: ${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}`],
    ["in brackets that nobody closes", (levels) => "[".repeat(levels)],
    ["in braces", (levels) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`],
    ["of dashes", (levels) => `a:\n${"- ".repeat(levels - 1)}a`],
    ["of keys", (levels) => Array.from({ length: levels }, (_, at) => `${" ".repeat(at)}a:`).join("\n")],
  ])("nesting without end: %s", (_, nested) => {
    const [problem, ...others] = injected(nested(20_000)).problems;
    expect(others).toEqual([]);
    expect(problem).toMatch(/^it\.yaml:\d+:\d+: maps and lists are nested too deeply: expected at most 1000 levels$/);
  });

  test("nesting without end: of aliases in a pod", () => {
    const nested = (inner: string) => `${"[".repeat(900)}${inner}${"]".repeat(900)}`;
    const chain = Array.from({ length: 2 }, (_, at) => `a${at}: &a${at} ${nested(at === 0 ? "1" : `*a${at - 1}`)}\n`);
    const { problems } = injected(`${chain.join("")}kind: Pod\n${pod}      x: *a1\n`);
    expect(problems).toEqual(["it.yaml:2:809: maps and lists are nested too deeply: expected at most 1000 levels"]);
  });
});

test("what is nested a thousand levels deep, and is no pod's, is left as it is", () => {
  const text = `a: ${"[".repeat(998)}${"]".repeat(998)}`;
  expect(injected(text)).toMatchObject({ splices: [], problems: [] });
});
