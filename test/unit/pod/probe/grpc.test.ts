import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { createHealthClient, type GrpcProbe, type HealthClient } from "../../../../src/pod/probe/grpc.ts";
import type { RequestFailed } from "../../../../src/shared/http/request-failed.ts";
import { type ProbeVerdict, parseProbe } from "../../../../src/shared/sidecars/core/probe.ts";
import { until } from "../../../harness/ebb.ts";
import { freePort } from "../../../harness/free-port.ts";
import { startGrpcServer } from "../../../stand-in/grpc.ts";
import { type RawServer, startRawServer } from "../../../stand-in/raw-server.ts";

const probeAt = (port: number) => parseProbe(`grpc://127.0.0.1:${port}`) as GrpcProbe;
const clientAt = (port: number, counts = { opening: 0, held: 0 }) => createHealthClient(probeAt(port), counts);
const check = (client: HealthClient) => new Promise<ProbeVerdict | RequestFailed>((done) => void client.check(done));

describe("a health client", () => {
  test("keeps one connection of several, and closes it at its end", async () => {
    await using server = await startGrpcServer();
    const counts = { opening: 0, held: 0 };
    const client = clientAt(server.port, counts);
    const checks = [check(client), check(client), check(client)];
    expect(counts.opening).toBe(3);
    await Promise.all(checks);
    expect(counts.opening).toBe(0);
    await until("two are closed", () => server.connections.open === 1);
    await check(client);
    expect(server.connections.made).toBe(3);
    client[Symbol.dispose]();
    await until("the last is closed", () => server.connections.open === 0);
  });

  test("whose check is cancelled says nothing, and closes its connection", async () => {
    let connection: Socket | undefined;
    const said: unknown[] = [];
    await using server = await startRawServer((socket) => {
      connection = socket;
    });
    using client = clientAt(server.port);
    const cancel = client.check((outcome) => said.push(outcome));
    const socket = await until("it is connected", () => connection);
    cancel();
    await until("its connection is closed", () => socket.readableEnded || socket.destroyed);
    expect(said).toEqual([]);
  });

  test.each<[string, RawServer["answer"], string]>([
    ["speaks HTTP/1", (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "it speaks HTTP/1, not gRPC"],
    ["closes at once", (socket) => void socket.destroy(), "it closes the connection and says nothing"],
  ])("says that a server %s", async (_, answer, reason) => {
    await using server = await startRawServer(answer);
    using client = clientAt(server.port);
    expect(await check(client)).toMatchObject({ message: expect.stringContaining(reason) });
  });

  test("says that a server refuses, and counts no connection that is being opened any more", async () => {
    const counts = { opening: 0, held: 0 };
    using client = clientAt(await freePort(), counts);
    expect(await check(client)).toMatchObject({ kind: "refused" });
    await until("it is closed", () => counts.opening === 0);
  });
});
