import { describe, expect, test } from "bun:test";
import { readWaitingCall } from "../../../src/compat/waiting-call.ts";
import { describeTarget } from "../../../src/shared/core/address.ts";
import { describeProbe } from "../../../src/shared/sidecars/core/probe.ts";

const admin = "http://localhost:9000";

describe("the call of an ebb that is PID 1 tells what it waits for", () => {
  test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ["run", ["/ebb", "run", "--drain", "5s", "--admin", admin, "--", "/app", "--admin", "x"], {}],
    ["wait", ["/ebb", "wait", "--admin", admin, "--", "/app"], {}],
    ["by a variable", ["/ebb.dev/ebb", "run", "--", "/app"], { EBB_ADMIN: admin }],
    ["in another tool's name", ["/bin/scuttle", "/app"], { ENVOY_ADMIN_API: admin }],
    ["with another tool's name", ["/ebb", "envoy-preflight", "/app"], { ENVOY_ADMIN_API: admin }],
  ])("%s", (_, words, env) => {
    const { values } = readWaitingCall(words, env) ?? {};
    expect(values?.admin && describeTarget(values.admin)).toBe(`${admin}/`);
  });

  test("its targets too, with the headers of a flag", () => {
    const words = ["/ebb", "wait", "--header", "a: b", "http://db/ready", "file:/x", "--", "/app"];
    const { targets = [] } = readWaitingCall(words, {}) ?? {};
    expect(targets.map(describeProbe)).toEqual(["http://db/ready", "file:/x"]);
    expect(targets[0]).toMatchObject({ headers: [["a", "b"]] });
  });

  test.each<[string, readonly string[]]>([
    ["another command", ["/ebb", "sleep", "5s"]],
    ["another tool that waits for nothing", ["/pilot-agent", "request", "GET", "/ready"]],
    ["help", ["/ebb", "run", "--help"]],
    ["a bad option", ["/ebb", "run", "--drain", "soon", "--", "/app"]],
    ["nothing", []],
  ])("not %s", (_, words) => {
    expect(readWaitingCall(words, {})).toBeUndefined();
  });
});
