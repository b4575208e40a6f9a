import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AddressInfo, createServer, type Server } from "node:net";
import { parseListeners } from "../../../../../src/shared/http/core/listening.ts";
import { readIfThere } from "../../../../../src/shared/io/file.ts";
import { native } from "../../../../../src/shared/native/native.ts";
import { listen } from "../../../../harness/free-port.ts";

const servers: Server[] = [];

beforeAll(async () => {
  for (const host of ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"]) {
    const server = createServer();
    await listen(server, host);
    servers.push(server);
  }
});

afterAll(() => {
  for (const server of servers) server.close();
});

/** But for where others listen meanwhile. */
function ours(text: string): readonly number[] {
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  return [...new Set(parseListeners(text))].filter((port) => ports.includes(port)).toSorted();
}

test("the kernel tells by netlink of the same listeners as in /proc/net/tcp and tcp6", () => {
  const proc = `${readIfThere("/proc/net/tcp")}${readIfThere("/proc/net/tcp6")}`;
  expect(ours(native.listeners() ?? "")).toEqual(ours(proc));
  expect(ours(proc)).toHaveLength(new Set(servers.map((server) => (server.address() as AddressInfo).port)).size);
});
