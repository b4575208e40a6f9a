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
