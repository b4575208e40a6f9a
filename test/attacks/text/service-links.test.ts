import { expect, test } from "bun:test";
import { ebb } from "../../harness/ebb.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

/** What Kubernetes sets for a Service (kubernetes, pkg/kubelet/envvars/envvars.go). */
function linksOf(service: string): Readonly<Record<string, string>> {
  const prefix = service.toUpperCase().replaceAll("-", "_");
  return {
    [`${prefix}_SERVICE_HOST`]: "10.96.0.5",
    [`${prefix}_SERVICE_PORT`]: "443",
    [`${prefix}_SERVICE_PORT_HTTPS`]: "443",
    [`${prefix}_PORT`]: "tcp://10.96.0.5:443",
    [`${prefix}_PORT_443_TCP`]: "tcp://10.96.0.5:443",
    [`${prefix}_PORT_443_TCP_PROTO`]: "tcp",
    [`${prefix}_PORT_443_TCP_PORT`]: "443",
    [`${prefix}_PORT_443_TCP_ADDR`]: "10.96.0.5",
  };
}

const names = ["ebb", "ebb-admin", "ebb-app", "ebb-drain", "ebb-webhook-health", "dapr-http"];
const env = Object.assign({}, ...names.map(linksOf));

test("Services with ebb's name in theirs set no option, and no warning is said of them", async () => {
  const ended = await ebb(["run", "--no-wait", "--detect-timeout", "0", "--", "true"], { env });
  expect([ended.code, ended.log.filter(({ level }) => level !== "info")]).toEqual([0, []]);
});

test("the app gets them as they are", async () => {
  const { stdout } = await ebb(["run", "--sidecar", "none", "--quiet", "--", "env"], { env });
  for (const [name, value] of Object.entries(env)) expect(stdout).toContain(`${name}=${value}\n`);
});

test("ebb config shows the defaults beside them", async () => {
  const { code, stdout, stderr } = await ebb(["config", "--json"], { env });
  expect([code, stderr]).toEqual([0, ""]);
  const { stop: _, ...options } = JSON.parse(stdout) as Record<string, { origin: string }>;
  const origins = Object.values(options).map(({ origin }) => origin);
  expect(new Set(origins)).toEqual(new Set(["default"]));
});

test("an option's variable stays one beside them", async () => {
  await using sidecar = await fakeSidecar();
  const { code } = await ebb(["run", "--sidecar", "envoy", "--", "true"], { env: { ...env, EBB_ADMIN: sidecar.url } });
  expect([code, sidecar.requests]).toEqual([0, ["POST /quitquitquit"]]);
  const port = await ebb(["request", "/stats"], { env: { ...linksOf("ebb"), EBB_ADMIN_PORT: `${sidecar.port}` } });
  expect(port.code).not.toBe(64);
});

test("what is no link is said to set nothing, or refused", async () => {
  const unknown = await ebb(["run", "--sidecar", "none", "--", "true"], { env: { EBB_SERVICE_NAME: "x" } });
  expect(unknown.stderr).toContain("EBB_SERVICE_NAME");
  const bad = await ebb(["request", "/stats"], { env: { EBB_ADMIN_PORT: "tcp://localhost:15000" } });
  expect([bad.code, bad.stderr]).toEqual([64, expect.stringContaining("EBB_ADMIN_PORT: expected a port")]);
});
