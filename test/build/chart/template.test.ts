import { expect, test } from "bun:test";
import { conditionsOf } from "../../../build/chart/conditions.ts";
import { args, each, given, instead, plain, yaml } from "../../../build/chart/marks.ts";
import { printManifests, withIndents } from "../../../build/chart/template.ts";
import { addManifests, type Parts } from "../../../build/chart/union.ts";
import type { Manifest } from "../../../src/kube/manifests/installation.ts";

type Chosen = Readonly<Record<string, boolean>>;

const choices = ["a", "b", "c"].map((name) => ({ name, expression: `.Values.${name}` }));

/** Prints the template of a manifest with these fields. */
function templateOf(fieldsOf: (chosen: Chosen) => object, notes: Manifest["notes"] = {}): string {
  const conditions = conditionsOf(choices, () => true);
  const union: Parts = { kind: "list", all: [] };
  for (const [at, chosen] of conditions.cases.entries()) {
    const object = { apiVersion: "v1", kind: "Any", metadata: { name: "any", labels: {} }, ...fieldsOf(chosen) };
    const noted = Object.entries(notes).filter(([path]) => path in object);
    addManifests(union, [{ object, notes: Object.fromEntries(noted) }], 1n << BigInt(at));
  }
  const argsOf = (option: string) => [`- --${option}`];
  const text = withIndents(printManifests(union, { conditions, argsOf }));
  return text.replace("---\napiVersion: v1\nkind: Any\nmetadata:\n  name: any\n  labels: {}\n", "");
}

test.each<[string, (chosen: Chosen) => object, string]>([
  ["what is there in all cases", () => ({ list: ["v", "w"] }), "list: [v, w]\n"],
  [
    "an entry of some cases",
    ({ a }) => ({ x: 1, ...(a && { y: 2 }), z: 3 }),
    "x: 1\n{{- if .Values.a }}\ny: 2\n{{- end }}\nz: 3\n",
  ],
  [
    "a value that differs, the easier condition first",
    ({ a }) => ({ x: a ? "yes" : 5 }),
    '{{- if .Values.a }}\nx: "yes"\n{{- else }}\nx: 5\n{{- end }}\n',
  ],
  [
    "items of some cases, in a list that is there if one of them is",
    ({ a, b }) => (a || b ? { list: [...(a ? [{ name: "v" }] : []), ...(b ? [{ name: "w" }] : [])] } : {}),
    "{{- if or .Values.a .Values.b }}\nlist:\n  {{- if .Values.a }}\n  - name: v\n  {{- end }}\n  {{- if .Values.b }}\n  - name: w\n  {{- end }}\n{{- end }}\n",
  ],
  [
    "a condition of three choices",
    ({ a, b, c }) => (a && (b || c) ? { x: 1 } : {}),
    "{{- if and .Values.a (or .Values.b .Values.c) }}\nx: 1\n{{- end }}\n",
  ],
  [
    "a text of Helm, quoted",
    () => ({ x: "{{ .Values.x }}", y: "{{ .Values.y }}-z" }),
    "x: {{ .Values.x | quote }}\ny: {{ .Values.y }}-z\n",
  ],
  ["another value of Helm", () => ({ x: plain(".Values.x") }), "x: {{ .Values.x }}\n"],
  [
    "a text that may be empty",
    () => ({ x: given(".Values.x") }),
    "{{- with .Values.x }}\nx: {{ . | quote }}\n{{- end }}\n",
  ],
  [
    "a list of texts that may be empty",
    () => ({ x: [{ name: each(".Values.x") }] }),
    "{{- with .Values.x }}\nx:\n  {{- range . }}\n  - name: {{ . | quote }}\n  {{- end }}\n{{- end }}\n",
  ],
  [
    "a list of texts among others",
    () => ({ x: ["a", `--b=${each(".Values.x")}`, args("c")] }),
    "x:\n  - a\n  {{- range .Values.x }}\n  - --b={{ . }}\n  {{- end }}\n  - --c\n",
  ],
  [
    "YAML in place of a value, and among entries",
    () => ({ x: yaml(".Values.x"), y: { z: 1, [yaml(".Values.y")]: "" } }),
    "{{- with .Values.x }}\nx:\n  {{- toYaml . | nindent 2 }}\n{{- end }}\ny:\n  z: 1\n  {{- with .Values.y }}\n  {{- toYaml . | nindent 2 }}\n  {{- end }}\n",
  ],
  [
    "YAML in place of all entries",
    () => ({ x: { [instead(".Values.x")]: "", y: 1 } }),
    "x:\n  {{- with .Values.x }}\n  {{- toYaml . | nindent 2 }}\n  {{- else }}\n  y: 1\n  {{- end }}\n",
  ],
])("%s", (_, fieldsOf, text) => {
  expect(templateOf(fieldsOf)).toBe(text);
});

test("a comment goes with its field", () => {
  expect(templateOf(({ a }) => (a ? { x: 1 } : {}), { x: "Why." })).toBe(
    "{{- if .Values.a }}\n# Why.\nx: 1\n{{- end }}\n",
  );
});

test("what no condition of three choices says is an error", () => {
  const odd = ({ a, b, c }: Chosen) => [a, b, c].filter(Boolean).length % 2 === 1;
  expect(() => templateOf((chosen) => (odd(chosen) ? { x: 1 } : {}))).toThrow("no condition of three choices");
});
