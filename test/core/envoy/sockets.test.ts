import { expect, test } from "bun:test";
import { countAccepted } from "../../../src/core/envoy/sockets.ts";

const [ESTABLISHED, TIME_WAIT, LISTEN] = ["01", "06", "0A"];

/** A line of /proc/net/tcp, as Linux 6.12 writes it, of `address:port` and its other end. */
function row(local: string, remote: string, state: string, uid = 1337): string {
  return `   0: ${hex(local)} ${hex(remote)} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 12345 1 0000000000000000 20 4 30 10 -1\n`;
}

function hex(end: string): string {
  const [address = "", port] = end.split(":");
  const word = address
    .split(".")
    .toReversed()
    .map((byte) => Number(byte).toString(16).padStart(2, "0"));
  return `${word.join("")}:${Number(port).toString(16).padStart(4, "0")}`.toUpperCase();
}

const proxy = row("0.0.0.0:15006", "0.0.0.0:0", LISTEN);
const rootProxy = row("0.0.0.0:15006", "0.0.0.0:0", LISTEN, 0);
const app = row("0.0.0.0:8080", "0.0.0.0:0", LISTEN, 1000);
const client = row("10.0.0.7:15006", "10.0.0.9:40001", ESTABLISHED);
/** The proxy's own connection to the app: both ends are in the pod. */
const toApp =
  row("127.0.0.6:33000", "10.0.0.7:8080", ESTABLISHED) + row("10.0.0.7:8080", "127.0.0.6:33000", ESTABLISHED, 1000);
/** A client's under TPROXY: its own address and port are those that the client asked for. */
const transparent = row("10.0.0.7:8080", "10.0.0.9:40002", ESTABLISHED, 0);
const outgoing = row("10.0.0.7:50000", "10.0.0.8:8080", ESTABLISHED);
const agent = row("0.0.0.0:15020", "0.0.0.0:0", LISTEN) + row("10.0.0.7:15020", "10.0.0.1:40003", ESTABLISHED);

test.each<[string, string, number | undefined]>([
  ["counts what it has accepted", proxy + client + client.replace(/9C41/, "9C42"), 2],
  ["counts nothing where there is nothing", proxy, 0],
  ["leaves out its own connections to the app", proxy + app + client + toApp, 1],
  ["leaves out connections to the app that do not come through it", proxy + app + transparent, 0],
  ["leaves out what goes out of the pod", proxy + client + outgoing, 1],
  ["leaves out what is over", proxy + row("10.0.0.7:15006", "10.0.0.9:40001", TIME_WAIT), 0],
  ["is not known where nobody listens there", app + client, undefined],
  ["under TPROXY counts what has the app's port and comes from outside", rootProxy + app + transparent + toApp, 1],
  ["under TPROXY leaves out what asks the mesh's agent", rootProxy + agent, 0],
  ["under TPROXY leaves out what goes out of the pod", rootProxy + app + outgoing, 0],
])("what a proxy has on its inbound port: %s", (_, tcp, expected) => {
  expect(countAccepted({ tcp, tcp6: undefined }, [15006])).toBe(expected as number);
});

test("is counted on each of its ports, on IPv6 too", () => {
  const zero = "0".repeat(32);
  const tcp6 = `   0: ${zero}:3A9E ${zero}:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 1 1
   1: 0000000000000000FFFF00000700000A:3A9E 0000000000000000FFFF00000900000A:9C41 01 00000000:00000000 00:00000000 00000000  1337        0 2 1
`;
  expect(countAccepted({ tcp: undefined, tcp6 }, [15006])).toBe(1);
  const tcp = proxy.replace("3A9E", "3AA0") + client.replace("3A9E", "3AA0");
  expect(countAccepted({ tcp, tcp6 }, [15006, 15008])).toBe(2);
});
