import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInPath } from "../../build/setup/packages.mjs";
import { canUnshare, type Ended, ebb, temporaryFolder } from "../harness/ebb.ts";

const canRun = canUnshare("--net", "--mount", "--pid", "--fork", "--kill-child") && isInPath("ip");

/** Runs `ebb image 8.8.8.8:5000/app` in a network in which that is a registry whose tokens are to be had at `realm`. */
async function referredTo(realm: string, registries = "all"): Promise<Ended> {
  using folder = temporaryFolder();
  const [hosts, ca, fifo] = ["hosts", "ca.pem", "fifo"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(hosts, "127.0.0.1 localhost\n10.9.9.9 inside.example.com\n1.1.1.1 outside.example.com\n");
  const script = `ip link set lo up && ip addr add 8.8.8.8/32 dev lo && ip addr add 1.1.1.1/32 dev lo &&
    ip addr add 10.9.9.9/32 dev lo && mount --bind ${hosts} /etc/hosts && mkfifo ${fifo} &&
    { "$0" ${join(import.meta.dirname, "referring.ts")} ${ca} ${fifo} ${realm} & read -r _ < ${fifo}; exec "$@"; }`;
  const through = [
    "unshare",
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "sh",
    "-c",
    script,
    process.execPath,
  ];
  return await ebb(["image", "--ca-file", ca, "--registries", registries, "8.8.8.8:5000/app"], { through });
}

const requestsIn = ({ stderr }: Ended) => stderr.split("\n").filter((line) => line.startsWith("registry: "));

describe.skipIf(!canRun)("a registry on the internet", () => {
  test.each([
    ["a name with an internal address", "https://inside.example.com:5000/token", "10.9.9.9"],
    ["an internal address", "https://10.9.9.9:5000/token", "10.9.9.9"],
    ["this machine", "https://localhost:5000/token", "127.0.0.1"],
  ])("cannot send ebb to %s", async (_, realm, address) => {
    const ended = await referredTo(realm);
    expect(ended.code).toBe(69);
    expect(ended.stderr).toContain(`whose address ${address} is internal`);
    expect(requestsIn(ended)).toEqual(["registry: 8.8.8.8:5000 /v2/app/manifests/latest"]);
  });

  test.each([
    ["to a name on the internet", "https://outside.example.com:5000/token", "all"],
    [
      "to a name inside that is listed",
      "https://inside.example.com:5000/token",
      "8.8.8.8:5000,inside.example.com:5000",
    ],
  ])("may send it %s", async (_, realm, registries) => {
    const ended = await referredTo(realm, registries);
    expect(requestsIn(ended)[1]).toBe(`registry: ${new URL(realm).host} /token`);
    expect(ended.stderr).toContain("404");
  });
});
