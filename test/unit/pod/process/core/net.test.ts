import { describe, expect, test } from "bun:test";
import {
  isOwnAddress,
  type Owners,
  type SocketsStatus,
  summarizeSockets,
} from "../../../../../src/pod/process/core/net.ts";
import { parseListeners } from "../../../../../src/shared/http/core/listening.ts";

const nobody: Owners = new Map();
const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
let line = 0;

/** A row of /proc/net/tcp as Linux 6 prints it. */
function row(local: string, state: string, { inode = 0, queue = 0 } = {}): string {
  const sl = `${line++}`.padStart(4);
  const rx = queue.toString(16).toUpperCase().padStart(8, "0");
  return `${sl}: ${local} 0100007F:0050 ${state} 00000000:${rx} 00:00000000 00000000  1000        0 ${inode} 1 00000000497a8d43 100 0 0 10 0\n`;
}

const of = (tcp: string, tcp6 = "", unix = "", owners = nobody) =>
  summarizeSockets({ tcp: head + tcp, tcp6, unix }, owners);
const wildcard6 = "0".repeat(32);
const mapped = "0000000000000000FFFF00000100007F";

test("a listening socket has its address, owner, and what waits to be accepted", () => {
  const owners = new Map([[3901994, { pid: 7, name: "app" }]]);
  expect(of(row("0100007F:1F90", "0A", { inode: 3901994, queue: 17 }), "", "", owners)?.listening).toEqual([
    { protocol: "tcp", address: "127.0.0.1", port: 8080, pid: 7, process: "app", backlog: 17, connections: {} },
  ]);
});

test.each([
  ["00000000000000000000000001000000", "::1"],
  [wildcard6, "::"],
  [mapped, "127.0.0.1"],
  ["B80D0120000000000000000001000000", "2001:db8::1"],
])("%s is %s", (words, address) => {
  expect(of("", head + row(`${words}:0050`, "0A"))?.listening).toMatchObject([{ protocol: "tcp6", address, port: 80 }]);
});

/** The tables of gVisor (runsc 20221219), which pads the inode. */
const gvisor = {
  tcp: `${head}   0: 0100007F:1FA3 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0        1 1 0000000000000000 0 0 0 0 -1
   4: 0100007F:7EED 0100007F:1FA3 01 00000000:00000000 00:00000000 00000000     0        0        5 1 0000000000000000 0 0 0 0 -1
   5: 0100007F:1FA3 0100007F:7EED 01 00000000:00000000 00:00000000 00000000     0        0        6 1 0000000000000000 0 0 0 0 -1
`,
  tcp6: `${head}   6: 00000000000000000000000001000000:1FA2 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0        7 1 0000000000000000 0 0 0 0 -1
`,
  unix: `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000001 00000000 00000000 0001 03        3
0000000000000000: 00000001 00000000 00000000 0001 03        4 /tmp/app.sock
0000000000000000: 00000001 00000000 00010000 0001 01        2 /tmp/app.sock
`,
};

test("gVisor's tables are read as those of Linux", () => {
  const owners = new Map([
    [1, { pid: 7, name: "app" }],
    [7, { pid: 7, name: "app" }],
  ]);
  const { listening, outgoing } = summarizeSockets(gvisor, owners) as SocketsStatus;
  const seen = listening.map(({ address, port, pid, connections }) => ({ address, port, pid, connections }));
  expect(seen).toEqual([
    { address: "::1", port: 8098, pid: 7, connections: {} },
    { address: "127.0.0.1", port: 8099, pid: 7, connections: { established: 1 } },
    { address: "/tmp/app.sock", port: null, pid: null, connections: { established: 1 } },
  ]);
  expect(outgoing).toEqual({ established: 1 });
  expect(parseListeners(gvisor.tcp + gvisor.tcp6)).toEqual([8099, 8098]);
});

test("the blanks between the fields do not matter", () => {
  const wide = (table: string) => table.replaceAll(" ", "   ");
  const { tcp, tcp6, unix } = gvisor;
  const tables = { tcp: wide(tcp), tcp6: wide(tcp6), unix: unix.replaceAll(/ (?=[0-9])/g, "  ") };
  expect(summarizeSockets(tables, nobody)).toEqual(summarizeSockets(gvisor, nobody));
  expect(parseListeners(wide(tcp))).toEqual([8099]);
});

test("sockets that share an address are one, with one owner", () => {
  const owners = new Map([[5, { pid: 9, name: "envoy" }]]);
  const rows = [4, 5, 6].map((inode) => row("00000000:3A9E", "0A", { inode, queue: 1 })).join("");
  expect(of(rows, "", "", owners)?.listening).toMatchObject([{ port: 15006, pid: 9, backlog: 3 }]);
});

describe("connections are counted by state, and belong to", () => {
  test("the socket of their own address first", () => {
    const rows = [row("00000000:1F90", "0A"), row("0100007F:1F90", "0A"), row("0100007F:1F90", "01")];
    const [all, own] = of(rows.join(""))?.listening ?? [];
    expect([all?.address, all?.connections, own?.connections]).toEqual(["0.0.0.0", {}, { established: 1 }]);
  });

  test("one that stands for all addresses, IPv4 on IPv6 too", () => {
    const rows = [row(`${wildcard6}:1F90`, "0A"), row(`${mapped}:1F90`, "01"), row(`${mapped}:1F90`, "08")];
    expect(of("", head + rows.join(""))?.listening[0]?.connections).toEqual({ established: 1, close_wait: 1 });
  });

  test("nobody who listens: this pod has opened them", () => {
    const rows = [row("0100007F:C350", "01"), row("0100007F:C351", "06"), row("0100007F:C352", "06")];
    expect(of(rows.join(""))).toEqual({ listening: [], outgoing: { established: 1, time_wait: 2 } });
  });
});

test("listening sockets come in the order of their ports", () => {
  const rows = [row("00000000:3A98", "0A"), row("0100007F:0050", "0A"), row("0100007F:1F90", "0A")];
  expect(of(rows.join(""))?.listening.map(({ port }) => port)).toEqual([80, 8080, 15000]);
});

describe("unix sockets", () => {
  const unix = (flags: string, state: string, inode: number, path: string) =>
    `0000000040beaf73: 00000002 00000000 ${flags} 0001 ${state} ${inode} ${path}\n`;

  test("that accept connections are listed with those they have", () => {
    const table = [
      "Num       RefCount Protocol Flags    Type St Inode Path\n",
      unix("00010000", "01", 11, "/run/admin socket.sock"),
      unix("00000000", "03", 12, "/run/admin socket.sock"),
      unix("00000000", "03", 13, ""),
      unix("00010000", "01", 14, "@abstract"),
    ].join("");
    const none = { protocol: "unix" as const, port: null, backlog: null };
    expect(of("", "", table, new Map([[11, { pid: 3, name: "envoy" }]]))?.listening).toEqual([
      { ...none, address: "/run/admin socket.sock", pid: 3, process: "envoy", connections: { established: 1 } },
      { ...none, address: "@abstract", pid: null, process: null, connections: {} },
    ]);
  });

  test("whose path pretends to be more rows are no more than one", () => {
    const table = unix("00010000", "01", 11, "/run/a\n0: 1 2 00010000 0001");
    expect(of("", "", table)?.listening.map(({ address }) => address)).toEqual(["/run/a"]);
  });
});

test.each(["", "garbage\n", "   0: 0100007F:1F90\n", `${head}   1: XYZ:1F90 0:0 0A 0:0 0 0 0 0 5\n`])(
  "text that is no table has no sockets: %j",
  (text) => {
    expect(summarizeSockets({ tcp: text, tcp6: text, unix: text }, nobody)).toEqual({ listening: [], outgoing: {} });
  },
);

test("no table at all is not the same as none that listens", () => {
  expect(summarizeSockets({ tcp: undefined, tcp6: undefined, unix: undefined }, nobody)).toBeNull();
});

test.each([
  [{ kind: "unix", path: "/admin.sock" }, true],
  [{ kind: "tcp", host: "localhost", port: 9901 }, true],
  [{ kind: "tcp", host: "10.0.0.7", port: 9901 }, true],
  [{ kind: "tcp", host: "10.0.0.8", port: 9901 }, false],
] as const)("%j is this pod's own where it is loopback or the local end of a connection: %p", (address, isOwn) => {
  const tcp = "   0: 0700000A:C350 0800000A:26AD 01 00000000:00000000 00:00000000 00000000  1337        0 2 1\n";
  expect(isOwnAddress(address, { tcp, tcp6: undefined })).toBe(isOwn);
});
