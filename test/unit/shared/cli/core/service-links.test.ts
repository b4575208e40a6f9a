import { describe, expect, test } from "bun:test";
import { commands } from "../../../../../src/commands.ts";
import { isServiceLink } from "../../../../../src/shared/core/service-links.ts";

/** What the kubelet sets (pkg/kubelet/envvars/envvars.go) for a Service with two ports. */
function linksOf(service: string, ip: string): readonly (readonly [string, string])[] {
  const prefix = service.toUpperCase().replaceAll("-", "_");
  const host = ip.includes(":") ? `[${ip}]` : ip;
  const port = (number: number, protocol: string) =>
    [
      [`${prefix}_PORT_${number}_${protocol}`, `${protocol.toLowerCase()}://${host}:${number}`],
      [`${prefix}_PORT_${number}_${protocol}_PROTO`, protocol.toLowerCase()],
      [`${prefix}_PORT_${number}_${protocol}_PORT`, `${number}`],
      [`${prefix}_PORT_${number}_${protocol}_ADDR`, ip],
    ] as const;
  return [
    [`${prefix}_SERVICE_HOST`, ip],
    [`${prefix}_SERVICE_PORT`, "443"],
    [`${prefix}_SERVICE_PORT_HTTPS_ADMIN`, "443"],
    [`${prefix}_PORT`, `tcp://${host}:443`],
    ...port(443, "TCP"),
    ...port(53, "UDP"),
    ...port(9, "SCTP"),
  ];
}

describe("all that Kubernetes sets for a Service is its own:", () => {
  test.each([
    ["ebb", "10.96.0.5"],
    ["ebb-admin", "fd00::5"],
    ["ebb-drain-port", "10.96.0.5"],
    ["dapr-http", "10.96.0.5"],
  ])("%s at %s", (service, ip) => {
    for (const [name, value] of linksOf(service, ip)) expect([name, isServiceLink(name, value)]).toEqual([name, true]);
  });
});

test.each([
  ["EBB_ADMIN", "http://localhost:15000"],
  ["EBB_ADMIN_PORT", "15000"],
  ["EBB_ADMIN_PORT", "tcp://localhost:15000"],
  ["EBB_APP_PORT", "80,443"],
  ["EBB_READY", "tcp://10.96.0.5:443"],
  ["EBB_SERVICE", "x"],
  ["EBB_X_SERVICE_PORT", "http"],
  ["EBB_PORTS", "1"],
])("%s=%s is somebody's wish", (name, value) => expect(isServiceLink(name, value)).toBe(false));

test("no option has a variable that is a link by its name alone", () => {
  const options = Object.values(commands).flatMap((command) => Object.values(command.options));
  const names = options.flatMap(({ variables }) => variables.map(({ name }) => name));
  for (const name of names)
    for (const value of ["1", "10.0.0.1", "tcp"]) expect(isServiceLink(name, value)).toBe(false);
});
