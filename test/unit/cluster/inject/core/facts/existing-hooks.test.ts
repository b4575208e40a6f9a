import { describe, expect, test } from "bun:test";
import {
  type HookKind,
  kindOfHook,
  pathAsked,
} from "../../../../../../src/cluster/inject/core/facts/existing-hooks.ts";

const sleeps = (seconds: number): HookKind => ({ kind: "replaceable", shown: `sleep ${seconds}`, seconds });
const asks = (path: string): HookKind => ({ kind: "asks-sidecar", path });
const exec = (...command: readonly string[]) => ({ exec: { command } });
const sh = (script: string) => exec("/bin/sh", "-c", script);

describe("a preStop hook", () => {
  test.each<[object, HookKind]>([
    [exec("sleep", "15"), sleeps(15)],
    [exec("/bin/sleep", "15"), sleeps(15)],
    [exec("sleep", "1.5"), sleeps(1.5)],
    [exec("sleep", "2m"), sleeps(120)],
    [sh("sleep 15"), sleeps(15)],
    [sh(" exec /usr/bin/sleep 15s; "), sleeps(15)],
    [exec("bash", "-ec", "sleep 15"), sleeps(15)],
    [exec("bash", "-ce", "sleep 15"), sleeps(15)],
    [exec("/bin/bash", "-c", "--", "sleep 15"), sleeps(15)],
    [exec("bash", "-ce", "--", "sleep 15"), sleeps(15)],
    [exec("bash", "-c", "--"), { kind: "other" }],
    [{ sleep: { seconds: 15 } }, sleeps(15)],
    [{ sleep: { seconds: 0 } }, sleeps(0)],
    [sh("sleep 15; nginx -s quit"), { kind: "other" }],
    [sh("sleep $DELAY"), { kind: "other" }],
    [exec("sleep", "1", "2"), { kind: "other" }],
    [sh("curl -X POST localhost:15020/quitquitquit"), asks("/quitquitquit")],
    [exec("curl", "-XPOST", "http://localhost:15000/drain_listeners?inboundonly"), asks("/drain_listeners")],
    [sh("wget -qO- --post-data= 127.0.0.1:9901/healthcheck/fail; sleep 5"), asks("/healthcheck/fail")],
    [exec("pilot-agent", "request", "POST", "quitquitquit"), asks("/quitquitquit")],
    [exec("/usr/local/bin/pilot-agent", "request", "POST", "drain_listeners?graceful"), asks("/drain_listeners")],
    [sh("sleep 5 && curl -X POST http://localhost:4191/shutdown"), asks("/shutdown")],
    [{ httpGet: { path: "/quitquitquit", port: 9091 } }, asks("/quitquitquit")],
    [exec("curl", "-X", "POST", "http://localhost:8080/shutdown-hook"), { kind: "other" }],
    [exec("curl", "http://localhost:8080/drain"), { kind: "other" }],
    [exec("curl", "-XPOST", "http://localhost:8080/actuator/shutdown"), { kind: "other" }],
    [sh("curl -X POST http://localhost:8080/shutdown"), { kind: "other" }],
    [sh("curl -X POST http://localhost:8080/app/quitquitquit"), { kind: "other" }],
    [{ httpGet: { path: "/shutdown", port: 8080 } }, { kind: "other" }],
    [{ httpGet: { path: "/shutdown", port: "http" } }, { kind: "other" }],
    [{ httpGet: { path: "/actuator/shutdown", port: 4191 } }, { kind: "other" }],
    [{ httpGet: { path: "/shutdown", port: 4191 } }, asks("/shutdown")],
    [sh("curl -X POST http://localhost:3500/v1.0/shutdown"), asks("/v1.0/shutdown")],
    [sh('curl -X POST "http://$HOST:$PORT/quitquitquit"'), asks("/quitquitquit")],
    [sh("URL=http://localhost:15020/quitquitquit; curl $URL"), asks("/quitquitquit")],
    [sh("/app/quitquitquit"), { kind: "other" }],
    [{ httpGet: { path: "/wait-for-drain", port: 8022 } }, { kind: "known" }],
    [exec("/ebb", "drain", "--drain=10s"), { kind: "known" }],
    [exec("/ebb.dev/ebb", "drain"), { kind: "known" }],
    [sh("/flush; /ebb.dev/ebb drain --drain=9s"), { kind: "known" }],
    [exec("/ebb", "hold", "--sidecar=envoy"), { kind: "holds" }],
    [exec("/ebb.dev/ebb", "hold"), { kind: "holds" }],
    [sh("/warn; /ebb.dev/ebb hold"), { kind: "holds" }],
    [sh("/ebb.dev/ebb status"), { kind: "other" }],
    [{ httpGet: { path: "/stop", port: 8080 } }, { kind: "other" }],
    [exec("nginx", "-s", "quit"), { kind: "other" }],
    [{}, { kind: "other" }],
    [{ exec: { command: "sleep 15" } }, { kind: "other" }],
  ])("%j", (hook, kind) => {
    expect(kindOfHook(hook)).toEqual(kind);
  });
});

describe("a proxy's hook that waits until only the proxy listens", () => {
  const wait = (others: string) => `while [ $(${others} | wc -l | xargs) -ne 0 ]; do sleep 1; done`;
  const usual = wait("netstat -plunt | grep tcp | grep -v envoy");

  test.each([
    usual,
    `sleep 20; ${usual}`,
    `sleep 5 && ${usual};`,
    wait("netstat -plunt | grep tcp | egrep -v 'envoy|pilot-agent'"),
    wait("netstat -plunt | grep tcp | grep -v envoy | grep -v pilot-agent"),
    wait('ss -tlnp | grep -Ev "envoy|pilot-agent"'),
    'while [ "$(ss -plunt | grep -v envoy | wc -l)" -gt 0 ]; do\n  sleep 2;\ndone\n',
  ])("is known: %s", (script) => {
    for (const shell of ["/bin/sh", "bash"])
      expect(kindOfHook(exec(shell, "-c", script))).toEqual({ kind: "waits-for-apps" });
  });

  test.each([
    `${usual}; /flush`,
    `/flush; ${usual}`,
    `sleep 5; sleep 5; ${usual}`,
    wait("netstat -plunt | grep tcp | grep -v TIME_WAIT"),
    wait("netstat -plunt | grep tcp | grep -v $(cat /envoy)"),
    usual.replace("sleep 1", "/flush"),
  ])("is not one that does more, or something else: %s", (script) => {
    expect(kindOfHook(sh(script))).toEqual({ kind: "other" });
  });

  test("is none that asks a sidecar, too", () => {
    const script = `curl -X POST localhost:15000/drain_listeners?inboundonly; ${usual}`;
    expect(kindOfHook(sh(script))).toEqual(asks("/drain_listeners"));
  });
});

describe("a container whose whole command asks a sidecar to quit", () => {
  const request = ["curl", "-X", "POST", "http://localhost:15020/quitquitquit"];

  test.each<[string, object]>([
    ["as words", { command: request }],
    ["in command and args", { command: request.slice(0, 1), args: request.slice(1) }],
    ["by a shell", { command: ["/bin/sh", "-c", request.join(" ")] }],
    ["by an agent", { command: ["/usr/local/bin/pilot-agent", "request", "POST", "quitquitquit"] }],
  ])("is known: %s", (_, container) => {
    expect(pathAsked({ name: "quitter", ...container })).toBe("/quitquitquit");
  });

  test.each([
    "while pgrep app; do sleep 1; done; curl -X POST localhost:15020/quitquitquit",
    "/app && curl -X POST localhost:15020/quitquitquit",
    "curl $(/app) localhost:15020/quitquitquit",
    "curl -X POST http://billing.shop/run",
    "/app --quit-url localhost:15020/quitquitquit",
  ])("is not one that does more, or something else: %s", (script) => {
    expect(pathAsked({ name: "app", command: ["/bin/sh", "-c", script] })).toBeUndefined();
  });
});

describe("of a command line that nobody would write", () => {
  // each costs hours if it is looked into
  const million = 1_000_000;
  const texts = [
    `sleep 1${" ".repeat(million)}x`,
    `sleep 1${"\n".repeat(million)}x`,
    `${"$(sleep ".repeat(million)}5${")".repeat(million)}; curl -X POST http://localhost:15020/quitquitquit`,
    "curl -X POST ".repeat(million),
    `curl -X POST http://localhost:15020/quitquitquit${" ".repeat(million)}`,
  ];

  test("nothing is known, in a hook and in a container, with a shell and without", () => {
    for (const text of texts) {
      for (const words of [["sh", "-c", text], text.split(" ").slice(0, million), ["/bin/sleep", text]]) {
        expect(kindOfHook({ exec: { command: words } })).toEqual({ kind: "other" });
        expect(pathAsked({ name: "app", command: words })).toBeUndefined();
      }
      expect(kindOfHook({ httpGet: { path: `/${text}`, port: 80 } })).toEqual({ kind: "other" });
    }
  });
});
