import { expect, test } from "bun:test";
import { injectPod } from "../../../src/core/inject/inject-pod.ts";
import { injectText } from "../../../src/kube/inject/inject-text.ts";

const policy = {
  image: "registry.example.com/ebb:0.1.0",
  all: true,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
} as const;

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
  const { problems, splices } = injectText("a.yaml", text, (pod) => injectPod(pod, policy));
  expect(problems).toEqual([expect.stringContaining(message)]);
  expect(splices).toEqual([]);
});
