import { describe, expect, test } from "bun:test";
import { readCommandCall } from "../../../../../src/shared/cli/core/call.ts";
import { type OptionName, options, pickOptions, type Settings } from "../../../../../src/shared/cli/core/options.ts";
import type { Environment } from "../../../../../src/shared/core/environment.ts";
import { describeProbe } from "../../../../../src/shared/sidecars/core/probe.ts";
import { describeQuit } from "../../../../../src/shared/sidecars/core/quit.ts";
import type { QuitRequest } from "../../../../../src/shared/sidecars/core/sidecar.ts";

const settings = (args: readonly string[], env: Environment = {}): Settings =>
  readCommandCall(options, { args: [...args, "--", "app"], env }).values;
const fromVariables = (env: Environment): Settings => settings([], env);
const refuses = (arg: string): void => expect(() => settings([arg])).toThrow(arg.slice(2, arg.indexOf("=")));

test("the defaults are the contract's", () => {
  expect(settings([])).toStrictEqual({
    sidecar: { isAuto: true, named: [] },
    admin: undefined,
    ready: [],
    readyPath: undefined,
    quit: [],
    signalProcess: [],
    header: [],
    caFile: undefined,
    any: false,
    waitTimeout: 300_000,
    onWaitTimeout: "fail",
    noWait: false,
    quitOn: "always",
    restartPolicy: undefined,
    restartCodes: undefined,
    lastOf: undefined,
    noHold: false,
    quitTimeout: 5000,
    drain: 0,
    minDrain: 5000,
    maxInFlight: 0,
    grace: undefined,
    podGrace: undefined,
    podAnnotations: "/etc/podinfo/annotations",
    hostNetwork: undefined,
    appPort: [],
    detectTimeout: 3000,
    rewriteSignal: [],
    signalGroup: false,
    parentDeath: undefined,
    stopSignal: [15, 2],
    expectExit: [],
    logLevel: "info",
    logFormat: "auto",
    quiet: false,
    terminationLog: undefined,
    port: undefined,
    body: undefined,
    timeout: 10_000,
    json: false,
    watch: false,
  });
});

test("each option has a flag and a variable of its own, and says what it is for", () => {
  const all = Object.values(options);
  expect(new Set(all.map(({ flag }) => flag)).size).toBe(all.length);
  for (const { flag, variables, help } of all) {
    const name = flag === "port" ? "admin-port" : flag; // for a Service named ebb, Kubernetes sets EBB_PORT
    expect(variables[0]?.name).toBe(`EBB_${name.toUpperCase().replaceAll("-", "_")}`);
    expect(help).toMatch(/\w/);
  }
});

test("some options can be picked, and stay in the table's order", () => {
  expect(Object.keys(pickOptions("json", "admin", "grace"))).toEqual(["admin", "grace", "json"]);
});

const describeGiven = (quit: QuitRequest | "none") => (quit === "none" ? quit : describeQuit(quit));

describe("a flag's value is read:", () => {
  test.each<[string, OptionName, unknown]>([
    ["--sidecar=auto", "sidecar", { isAuto: true, named: [] }],
    ["--sidecar=none", "sidecar", { isAuto: false, named: [] }],
    ["--sidecar=linkerd", "sidecar", { isAuto: false, named: [{ name: "linkerd" }] }],
    ["--wait-timeout=0", "waitTimeout", Number.POSITIVE_INFINITY],
    ["--wait-timeout=0s", "waitTimeout", Number.POSITIVE_INFINITY],
    ["--wait-timeout=90", "waitTimeout", 90_000],
    ["--on-wait-timeout=start", "onWaitTimeout", "start"],
    ["--no-wait", "noWait", true],
    ["--no-wait=false", "noWait", false],
    ["--no-hold", "noHold", true],
    ["--signal-group=T", "signalGroup", true],
    ["--signal-group=0", "signalGroup", false],
    ["--restart-policy=OnFailure", "restartPolicy", "OnFailure"],
    ["--last-of=app, worker-2", "lastOf", ["app", "worker-2"]],
    ["--restart-codes=42, 43", "restartCodes", { operator: "In", values: [42, 43] }],
    ["--restart-codes=!0,1", "restartCodes", { operator: "NotIn", values: [0, 1] }],
    ["--grace=0", "grace", 0],
    ["--detect-timeout=0", "detectTimeout", 0],
    ["--pod-grace=30s", "podGrace", 30_000],
    ["--rewrite-signal=TERM:QUIT", "rewriteSignal", [[15, 3]]],
    ["--rewrite-signal=sigusr1:0", "rewriteSignal", [[10, 0]]],
    ["--rewrite-signal=10:12", "rewriteSignal", [[10, 12]]],
    ["--rewrite-signal=RTMIN+3:TERM", "rewriteSignal", [[37, 15]]],
    ["--parent-death=sigterm", "parentDeath", 15],
    ["--parent-death=9", "parentDeath", 9],
    ["--stop-signal=QUIT", "stopSignal", [3]],
    ["--stop-signal=SIGTERM, int,34", "stopSignal", [15, 2, 34]],
    ["--expect-exit=143", "expectExit", [143]],
    ["--expect-exit=0, 143,255", "expectExit", [0, 143, 255]],
    ["--header=a: b", "header", [["a", "b"]]],
    ["--ca-file=/ca.pem", "caFile", "/ca.pem"],
    ["--termination-log=/tmp/log", "terminationLog", "/tmp/log"],
  ])("%s", (arg, name, value) => {
    expect(settings([arg])[name]).toStrictEqual(value as Settings[OptionName]);
  });

  test("URLs, as what they ask for", () => {
    const { admin, ready, quit } = settings(["--admin=http://h:1", "--ready=tcp://db:2", "--quit=GET http://h/q"]);
    expect(admin?.address).toEqual({ kind: "tcp", host: "h", port: 1 });
    expect(ready.map(describeProbe)).toEqual(["tcp://db:2"]);
    expect(quit.map(describeGiven)).toEqual(["GET http://h/q"]);
  });
});

test.each([
  "--sidecar=",
  "--sidecar=isto",
  "--sidecar=none,istio",
  "--sidecar=none,istio",
  "--sidecar=istio,nothing",
  "--admin=localhost:15000",
  "--ready=localhost",
  "--quit=h:1/q",
  "--header=no colon",
  "--wait-timeout=never",
  "--wait-timeout=-1",
  "--on-wait-timeout=ignore",
  "--no-wait=5s",
  "--signal-group=yes",
  "--quit-on=failure",
  "--restart-policy=sometimes",
  "--last-of=,",
  "--last-of=app",
  "--last-of=app,../worker",
  "--last-of=app,a/b",
  "--last-of=app,..",
  "--last-of=App",
  "--restart-codes=256",
  "--restart-codes=42,",
  "--restart-codes=!",
  "--restart-codes=42,!43",
  "--quit-timeout=0",
  "--quit-timeout=0ms",
  "--pod-grace=0",
  "--grace=soon",
  "--rewrite-signal=TERM",
  "--parent-death=STOP",
  "--parent-death=CHLD",
  "--parent-death=0",
  "--rewrite-signal=TERM:",
  "--rewrite-signal=TERM:NOPE",
  "--rewrite-signal=0:TERM",
  "--rewrite-signal=TERM:QUIT:INT",
  "--expect-exit=256",
  "--expect-exit=-1",
  "--expect-exit=a",
  "--expect-exit=143,a",
  "--expect-exit=0143",
  "--log-level=trace",
  "--log-format=xml",
])("%s is refused", refuses);

test("words may be in any case", () => {
  expect(settings(["--restart-policy=always", "--log-level=WARN", "--sidecar=Auto,Istio"])).toMatchObject({
    restartPolicy: "Always",
    logLevel: "warn",
    sidecar: { isAuto: true, named: [{ name: "istio" }] },
  });
});

test.each([
  ["--grace=5 min", "did you mean 5m?"],
  ["--grace=1.5Hours", "did you mean 1.5h?"],
  ["--grace=200 milliseconds", "did you mean 200ms?"],
  ["--wait-timeout=30 Sec", "did you mean 30s?"],
  ["--admin=localhost:15000", "did you mean http://localhost:15000?"],
  ["--quit=localhost:15020/quitquitquit", "did you mean http://localhost:15020/quitquitquit?"],
  ['--quit="http://localhost:15020/quitquitquit"', "it has quotes in it"],
  ["--ready='tcp://db:5432'", "it has quotes in it"],
])("%s: what was probably meant is said", (arg, hint) => {
  expect(() => settings([arg])).toThrow(`; ${hint}`);
});

test.each(["--grace=5 months", "--quit-timeout=0 s", "--grace=soon", "--admin=localhost", "--admin=//x"])(
  "%s: nothing is guessed",
  (arg) => {
    expect(() => settings([arg])).not.toThrow(/did you mean|quotes/);
    refuses(arg);
  },
);

describe("another tool's variable means what that tool says of it:", () => {
  test.each<[Environment, Partial<Settings>]>([
    [{ WAIT_FOR_ENVOY_TIMEOUT: "10s" }, { waitTimeout: 10_000, onWaitTimeout: "start" }],
    [{ QUIT_WITHOUT_ENVOY_TIMEOUT: "20s" }, { waitTimeout: 20_000, onWaitTimeout: "fail" }],
    [
      { WAIT_FOR_ENVOY_TIMEOUT: "10s", QUIT_WITHOUT_ENVOY_TIMEOUT: "20s" },
      { waitTimeout: 20_000, onWaitTimeout: "fail" },
    ],
    [{ START_WITHOUT_ENVOY: "true" }, { noWait: true }],
    [{ START_WITHOUT_ENVOY: "false" }, { noWait: false }],
    [{ NEVER_KILL_ISTIO: "true" }, { quitOn: "never" }],
    [{ NEVER_KILL_ISTIO: "false" }, { quitOn: "always" }],
    [{ NEVER_KILL_ENVOY: "1" }, { quitOn: "never" }],
    [{ NEVER_KILL_ISTIO_ON_FAILURE: "true" }, { quitOn: "success" }],
    [{ NEVER_KILL_ISTIO: "false", NEVER_KILL_ISTIO_ON_FAILURE: "TRUE" }, { quitOn: "success" }],
    [{ NEVER_KILL_ISTIO: "true", NEVER_KILL_ISTIO_ON_FAILURE: "true" }, { quitOn: "never" }],
    [{ ALWAYS_KILL_ENVOY: "true" }, { quitOn: "always" }],
    [{ QUIT_REQUEST_TIMEOUT: "9s" }, { quitTimeout: 9000 }],
    [{ SCUTTLE_LOGGING: "true" }, { logLevel: "info" }],
    [{ SCUTTLE_LOGGING: "false" }, { logLevel: "error" }],
  ])("%j", (env, expected) => {
    expect(fromVariables(env)).toMatchObject(expected);
  });

  test.each<[Environment, readonly string[]]>([
    [{ ISTIO_QUIT_API: "http://127.0.0.1:15020" }, ["POST http://127.0.0.1:15020/quitquitquit"]],
    [{ ISTIO_QUIT_API: "http://127.0.0.1:15020/" }, ["POST http://127.0.0.1:15020/quitquitquit"]],
    [{ ENVOY_KILL_API: "http://127.0.0.1:15020/quitquitquit" }, ["POST http://127.0.0.1:15020/quitquitquit"]],
    [{ GENERIC_QUIT_ENDPOINTS: "http://a:1/x, http://b:2/y" }, ["POST http://a:1/x", "POST http://b:2/y"]],
    [{ CSQL_PROXY_QUIT_URLS: "http://a:1/x  http://b:2/y" }, ["POST http://a:1/x", "POST http://b:2/y"]],
  ])("%j", (env, quits) => {
    expect(fromVariables(env).quit.map(describeGiven)).toEqual([...quits]);
  });

  test("ENVOY_ADMIN_API is the admin interface", () => {
    expect(fromVariables({ ENVOY_ADMIN_API: "http://127.0.0.1:15000" }).admin?.authority).toBe("127.0.0.1:15000");
  });
});

describe("an EBB_ variable of a repeatable option lists its values", () => {
  test("with commas", () => {
    const { ready, rewriteSignal } = fromVariables({
      EBB_READY: "tcp://a:1, file:/b,",
      EBB_REWRITE_SIGNAL: "TERM:QUIT,HUP:0",
    });
    expect(ready.map(describeProbe)).toEqual(["tcp://a:1", "file:/b"]);
    expect(rewriteSignal).toEqual([
      [15, 3],
      [1, 0],
    ]);
  });

  test("or, headers, with lines", () => {
    expect(fromVariables({ EBB_HEADER: "a: b, c\nd: e\n" }).header).toEqual([
      ["a", "b, c"],
      ["d", "e"],
    ]);
  });
});
