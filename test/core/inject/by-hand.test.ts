import { describe, expect, test } from "bun:test";
import { type HookKind, kindOfHook, quitterPath } from "../../../src/core/inject/by-hand.ts";

const sleeps = (seconds: number): HookKind => ({ kind: "sleep", seconds });
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
    [sh("/ebb.dev/ebb status"), { kind: "other" }],
    [{ httpGet: { path: "/stop", port: 8080 } }, { kind: "other" }],
    [exec("nginx", "-s", "quit"), { kind: "other" }],
    [{}, { kind: "other" }],
    [{ exec: { command: "sleep 15" } }, { kind: "other" }],
  ])("%j", (hook, kind) => {
    expect(kindOfHook(hook)).toEqual(kind);
  });
});

describe("a container that only waits and quits a sidecar", () => {
  test.each<[string, string | undefined]>([
    ["while pgrep app; do sleep 1; done; curl -X POST localhost:15020/quitquitquit", "/quitquitquit"],
    [
      "until ! pgrep -x app >/dev/null; do sleep 1; done && curl -sf -XPOST http://127.0.0.1:15020/quitquitquit",
      "/quitquitquit",
    ],
    [
      "sleep 10\nwhile ps aux | grep -q '[a]pp'; do sleep 2; done\npilot-agent request POST quitquitquit",
      "/quitquitquit",
    ],
    [
      "tail --pid=$(pidof app) -f /dev/null; wget --post-data='' -O- http://localhost:9091/quitquitquit",
      "/quitquitquit",
    ],
    ["PID=$(pgrep app); while kill -0 $PID; do sleep 1; done; curl -X POST localhost:4191/shutdown", "/shutdown"],
    ["python /app/run.py; curl -X POST localhost:15020/quitquitquit", undefined],
    ["curl -sf localhost:15021/healthz/ready; /app; curl -X POST localhost:15020/quitquitquit", undefined],
    ["while pgrep app; do sleep 1; done", undefined],
    ["curl -X POST localhost:15020/quitquitquit", undefined],
    [
      `set -e
# the app's own file (see its Deployment)
while [ ! -f /data/done ]; do
  echo "$(date): waiting; still there"
  sleep 1
done
for i in $(seq 5); do
  curl -sf -m 5 -o /dev/null --retry 3 \\
    -X POST "http://[::1]:15020/quitquitquit" && exit 0
done 2>&1`,
      "/quitquitquit",
    ],
  ])("%s", (script, path) => {
    expect(quitterPath(["/bin/sh", "-c", script], [])).toBe(path as string);
  });

  test.each([
    "curl -sf -X POST http://billing.shop/run",
    "sleep 5; while [ ! -f /data/done ]; do sleep 1; done; curl -T /data/out https://s3.example.com/out",
    "sleep 5; curl -T/data/out localhost:8080",
    "sleep 5; curl localhost.example.com",
    "sleep 5; curl $URL localhost",
    "sleep 5; wget -i urls.txt localhost",
    "if /app/migrate; then RC=0; else RC=1; fi",
    "until /app/migrate; do sleep 5; done",
    "while ! /app/migrate; do sleep 5; done",
    'RESULT=$(/app/report --month 10); echo "$RESULT"',
    'echo "$(echo "$(/app/report)")"',
    'echo $(echo ")"); /app; echo $(echo ")")',
    "echo '$(echo ' ; /app ; ' )'",
    "echo `/app/report`",
    "DB_HOST=db /app/migrate",
    "PYTHONUNBUFFERED=1 python job.py",
    'trap "/app/report" EXIT; sleep 5',
    "wget -qO- http://localhost:8080/rows | nc feeds 9000",
    "sleep 5 & $APP",
    "./test; sleep 5",
    'sleep 5; kill -TERM "$PID"',
    "sleep 5; cat /data/out",
    "sleep 5; echo done > /data/out",
    "tail -f /data/out",
    "grep -c ERROR /data/log",
    "app() { sleep 5; }; app",
    "sleep \\5",
  ])("not one that does more: %s", (work) => {
    const script = `${work}; curl -X POST http://localhost:15020/quitquitquit`;
    expect(quitterPath(["/bin/sh", "-c", script], [])).toBeUndefined();
  });

  test("nor a long one, which costs no time either", () => {
    const script = `${"$(sleep ".repeat(100_000)}5${")".repeat(100_000)}; curl -X POST http://localhost:15020/quitquitquit`;
    expect(quitterPath(["/bin/sh", "-c", script], [])).toBeUndefined();
  });

  test("also where the script is in args", () => {
    const script = "while pgrep app; do sleep 1; done; curl -X POST localhost:15020/quitquitquit";
    expect(quitterPath(["sh"], ["-c", script])).toBe("/quitquitquit");
  });
});
