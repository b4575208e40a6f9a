import { deepStrictEqual } from "node:assert";
import { applyPatch } from "rfc6902";
import { createEventReader } from "../../src/cluster/api/body.ts";
import { accessFromKubeconfig, parseKubeconfig } from "../../src/cluster/api/kubeconfig.ts";
import { injectPod } from "../../src/cluster/inject/core/inject-pod.ts";
import type { InjectPolicy } from "../../src/cluster/inject/core/policy.ts";
import { injectText } from "../../src/cluster/inject/inject-text.ts";
import { applySplices } from "../../src/cluster/inject/yaml/splice.ts";
import { drawSvg } from "../../src/cluster/timeline/core/svg.ts";
import { drawText } from "../../src/cluster/timeline/core/text.ts";
import { readLine, timelineOf } from "../../src/cluster/timeline/core/timeline.ts";
import { review } from "../../src/cluster/webhook/admission.ts";
import { Failure } from "../../src/shared/core/exit.ts";
import { milestones } from "../../src/shared/core/log-messages.ts";
import { type Random, randomOf } from "../harness/random.ts";
import { collectLog } from "../unit/cluster/collect-log.ts";

// Grammars of what the cluster side reads: the API server's answers, manifests, kubeconfigs.

/** A grammar of the input of a parser, and what holds of that parser whatever the input is. */
export interface Grammar {
  /** Makes a piece of well-formed input. */
  readonly line: (random: Random) => string;
  /** The words that damage is made of. */
  readonly words: readonly string[];
  /** Parses an input. @throws Error if the parser is wrong about it */
  readonly check: (text: string) => void;
}

const policies: readonly InjectPolicy[] = (["emptyDir", "image"] as const).map((volume) => ({
  image: "registry.example.com/ebb:1",
  all: volume === "image",
  volume,
  options: new Map(),
  entrypoints: new Map(),
}));

const bytesOf = (text: string) => new TextEncoder().encode(text);
const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const name = (random: Random) =>
  random.pick(["app", "envoy", "istio-proxy", "", "a.b", "A", "ebb-install", "x".repeat(300)]);
const annotation = (random: Random) =>
  `"ebb.dev/${random.pick(["inject", "drain", "apps", "sidecars", "entrypoint", "status", "native", "x", ""])}${random.pick(["", ".app"])}":${random.pick(['"true"', '"false"', '"app"', '"true,envoy"', '"5s"', '"app,envoy"', '"[\\"/a\\"]"', '"{}"', '""', "1", "null"])}`;
const containerOf = (random: Random) =>
  `{"name":"${name(random)}","image":"${name(random)}","command":${random.pick(['["/a"]', "[]", "null", '["/ebb.dev/ebb","run","--","/a"]', '"x"'])},"args":${random.pick(["[]", '["b"]', "0"])},"volumeMounts":${random.pick(["[]", "null", '[{"name":"ebb","mountPath":"/ebb.dev"}]'])},"lifecycle":${random.pick(["{}", "null", '{"preStop":{"exec":{"command":["a"]}}}'])}}`;

/** Makes fields of a pod, as JSON. */
const fieldOf = (random: Random) =>
  random.pick([
    `"metadata":{"name":"a","annotations":{${annotation(random)},${annotation(random)}}},`,
    `"spec":{"containers":[${containerOf(random)},${containerOf(random)}],"volumes":${random.pick(["null", "[]", '[{"name":"ebb"}]'])}},`,
    `"spec":{"initContainers":[${containerOf(random)}],"containers":[${containerOf(random)}],"restartPolicy":"Never"},`,
    '"kind":"Pod","apiVersion":"v1",',
    '"spec":{"hostNetwork":true,"shareProcessNamespace":true,"terminationGracePeriodSeconds":-1,"containers":{}},',
  ]);
const jsonWords = ["{", "}", "[", "]", '"', ",", "null", "1e999", "\\u0000", '"__proto__":', '"spec":{', "[[[["];

const admission: Grammar = {
  line: fieldOf,
  words: jsonWords,
  check(text) {
    for (const policy of policies) {
      review(bytesOf(text), policy);
      const object = jsonOf(`{"metadata":{"annotations":{"ebb.dev/inject":"true"}},${text}"x":0}`);
      for (const each of object === undefined ? [] : [object, [object]]) checkReview(each, policy);
    }
  },
};

/** @throws Error unless the answer is one that an API server accepts, and the pod that it makes is not changed again */
function checkReview(object: unknown, policy: InjectPolicy): void {
  const answer = answerTo(object, policy);
  if (answer.uid !== "u" || typeof answer.allowed !== "boolean") throw new Error("no answer to what was asked");
  if (answer.patch === undefined) return;
  const changed = structuredClone(object);
  const errors = applyPatch(changed, JSON.parse(Buffer.from(answer.patch, "base64").toString()));
  deepStrictEqual(errors.filter(Boolean), []);
  if (answerTo(changed, policy).patch !== undefined) throw new Error("what was changed is changed again");
}

function answerTo(object: unknown, policy: InjectPolicy): { uid: unknown; allowed: unknown; patch?: string } {
  const request = { uid: "u", kind: { group: "", version: "v1", kind: "Pod" }, operation: "CREATE", object };
  const reviewed = review(
    bytesOf(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request })),
    policy,
  );
  if (!("body" in reviewed)) throw new Error(JSON.stringify(reviewed));
  return JSON.parse(reviewed.body).response;
}

const yaml: Grammar = {
  line: (random) =>
    random.pick([
      "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations: {ebb.dev/inject: 'true'}\nspec:\n  containers:\n  - name: app\n    command: [/a]\n",
      '---\nkind: Job\nspec:\n    template:\n        metadata: &m\n            annotations:\n                ebb.dev/inject: "true" # why\n        spec: {containers: [{name: a, command: ["/a"]}]}\n',
      "kind: List\nitems:\n- kind: Pod\n  spec: *m\n",
      "kind: Pod\nmetadata:\n  annotations: {ebb.dev/inject: 'true', ebb.dev/sidecars: \"b,c\"}\nspec:\n  containers:\n  - name: app\n    command: [/a]\n  - name: b # two\n    command: ['x']\n  - {name: c, image: 'y'}\n  - name: b\n    restartPolicy: Always\n    args:\n    - >-\n       folded\n",
      `{${fieldOf(random)}"x":0}\n`,
      "a: |+\n  x\n\n",
      "  <<: *m\n",
      "b: >-\n   folded\n   text\n",
      "...\n--- # two\n",
      "? complex\n: value\r\n",
      "\tc: !!int 0x1f\n",
    ]),
  words: [
    "---\n",
    "\n",
    "  ",
    "- ",
    ": ",
    "&m ",
    "*m",
    "{{ .Values }}",
    "\t",
    "|",
    "'",
    '"',
    "#",
    "\r",
    "\ufeff",
    "[",
    "{",
  ],
  check(text) {
    for (const policy of policies) {
      const changePod = (pod: unknown) => injectPod(pod, policy);
      const { splices, problems } = injectText("a.yaml", text, changePod);
      if (splices.length === 0 || problems.length > 0) continue;
      const again = injectText("a.yaml", applySplices(text, splices), changePod);
      deepStrictEqual({ splices: again.splices, problems: again.problems }, { splices: [], problems: [] });
    }
  },
};

const SECRET = "s3cret";

const kubeconfig: Grammar = {
  line: (random) =>
    random.pick([
      "current-context: x\n",
      "contexts:\n- name: x\n  context: {cluster: c, user: u}\n",
      `clusters:\n- name: c\n  cluster:\n    server: ${random.pick(["https://a:6443", "http://[::1]", "a", "https://", `https://u:${SECRET}@a`])}\n`,
      `users:\n- name: u\n  user:\n    token: ${SECRET}\n`,
      `users:\n- name: u\n  user:\n    exec: {command: ${random.pick(["a", "./a", "''", "[]"])}, args: [], interactiveMode: Never}\n`,
      `users: [{name: u, user: {password: ${SECRET}, username: a, as-groups: [a]}}]\n`,
      "    insecure-skip-tls-verify: true\n    proxy-url: http://p\n",
    ]),
  words: ["\n", "- ", ": ", "  ", "{", "[", "&a ", "*a", "null", "!!binary ", "'", "\t", "<<: "],
  check(text) {
    failureOf(() => {
      const file = orSecretless(() => parseKubeconfig("/k/config", text));
      accessFromKubeconfig([file], { env: {} }, collectLog());
    });
  },
};

/** @throws what `act` throws, unless that is a Failure, which a user is told in one line: anything else is a bug */
function failureOf(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

/**
 * @throws Error if the secret is in the message of what `act` throws: next to what is wrong in a text may be a token
 */
function orSecretless<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if ((error as Error).message.includes(SECRET)) throw new Error(`a secret is shown: ${(error as Error).message}`);
    throw error;
  }
}

const watch: Grammar = {
  line: (random) =>
    random.pick([
      '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}\n',
      '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"é"}}}\r\n',
      '{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"old"}}\n',
      '{"type":1,"object":{"metadata":null}}\n',
      "<html>\n",
      "\n",
    ]),
  words: [...jsonWords, "\n", "\r", "é", "\ud800", '"type":"ERROR"'],
  check(text) {
    deepStrictEqual(eventsIn([bytesOf(text)]), eventsIn(inPieces(bytesOf(text))));
  },
};

/** Returns the events that are read, up to the first piece that is not an event. */
function eventsIn(pieces: readonly Uint8Array[]): readonly unknown[] {
  const reader = createEventReader(1e6);
  const events: unknown[] = [];
  try {
    for (const piece of pieces) for (const event of reader.take(piece)) events.push(event);
  } catch (error) {
    events.push((error as Error).message);
  }
  return events;
}

function inPieces(bytes: Uint8Array): readonly Uint8Array[] {
  const random = randomOf(bytes.length);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieces.at(-1)?.length ?? 1)
    pieces.push(bytes.subarray(at, at + 1 + random.int(0, 39)));
  return pieces;
}

const timeline: Grammar = {
  line(random) {
    const time = random.pick(["2026-01-01T00:00:0", "2026-01-05T00:00:0", "0000-01-01T00:00:0", "9999-12-31T23:59:5"]);
    const at = `${time}${random.int(0, 9)}.${random.int(100, 999)}Z`;
    const head = random.pick(["", `[pod/${name(random)}/app] `, "web-1 app ", `${at} `, "shop web-1 app "]);
    const number = random.pick(["0", "7", "1500.5", "-1", "1e999", "1e15", '"1"', "null"]);
    const field = random.pick([
      "waitedMs",
      "ranMs",
      "tookMs",
      "quitMs",
      "requests",
      "connections",
      "exitCode",
      "sidecar",
    ]);
    const msg = random.pick(Object.keys(milestones));
    return `${head}{"level":"info","time":"${at}","msg":"ebb: ${msg}","${field}":${number},"quitMs":${number}}\n`;
  },
  words: ["\n", "\r", "[pod/", "] ", "ebb: ", '"msg":"ebb: done"', "{", "}", "[[[[", "\x1b[31m", "<script>", "\u202e"],
  check(text) {
    const lines = text.split("\n").flatMap((line) => readLine(line, "stdin") ?? []);
    if (lines.length === 0) return;
    const whole = timelineOf(lines);
    const shown = drawText(whole, 80, (part) => part);
    if (/[\p{Cc}\u202e]/u.test(shown.join(""))) throw new Error("reaches a terminal raw");
    if (/[^\n\P{Cc}]|<script/u.test(drawSvg(whole))) throw new Error("reaches a page raw");
  },
};

export const clusterGrammars = { admission, yaml, kubeconfig, watch, timeline };
