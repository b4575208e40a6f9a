import { expect, test } from "bun:test";
import { clusterVariables } from "../../src/cluster-variables.ts";
import { commands } from "../../src/commands.ts";
import type { Options } from "../../src/shared/cli/core/option.ts";
import { options, pickOptions } from "../../src/shared/cli/core/options.ts";
import { unknownVariables } from "../../src/unknown-variables.ts";

test("a variable of ebb's form that sets nothing is told, and one that is nearly another tool's, and no other", () => {
  const env = {
    EBB_QUIET: "1",
    EBB_QUITE: "1",
    EBB_: "",
    EBBTIDE: "1",
    ebb_grace: "1",
    ISTIO: "1",
    ENVOY_ADMIN_API: "x",
    GENERIC_QUIT_ENDPOINT: "x",
    GENERIC_QUIT_PATH: "x",
  };
  expect(unknownVariables(options, env)).toEqual([
    { variable: "EBB_QUITE", didYouMean: "EBB_QUIT" },
    { variable: "EBB_" },
    { variable: "GENERIC_QUIT_ENDPOINT", didYouMean: "GENERIC_QUIT_ENDPOINTS" },
  ]);
  expect(unknownVariables(pickOptions("grace"), { EBB_GRACE: "1s", EBB_QUIET: "1" })).toEqual([
    { variable: "EBB_QUIET" },
  ]);
});

test("a variable that only commands for the cluster read is listed, and so is known to all", () => {
  const variablesOf = (all: Options) =>
    Object.values(all).flatMap((option) => option.variables.map(({ name }) => name));
  const own = variablesOf(options);
  const others = Object.values(commands).flatMap((command) => variablesOf(command.options));
  expect(new Set(others.filter((name) => !own.includes(name)))).toEqual(new Set(clusterVariables()));
});

test("variables that Kubernetes sets for a Service named ebb are no typing errors", () => {
  const service = { EBB_SERVICE_HOST: "10.0.0.1", EBB_SERVICE_PORT: "443", EBB_SERVICE_PORT_HTTPS: "443" };
  const ports = {
    EBB_PORT: "tcp://10.0.0.1:443",
    EBB_PORT_443_TCP: "tcp://10.0.0.1:443",
    EBB_PORT_443_TCP_ADDR: "10.0.0.1",
  };
  expect(unknownVariables(options, { ...service, ...ports })).toEqual([]);
  expect(unknownVariables(options, { EBB_SERVICES: "x", EBB_PORTS: "1" })).toEqual([
    { variable: "EBB_SERVICES" },
    { variable: "EBB_PORTS" },
  ]);
});
