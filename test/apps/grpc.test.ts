import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { isInPath } from "../../build/setup/packages.mjs";
import { ebb, lineOf, temporaryFolder } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";

// A gRPC server that we did not write: etcd, whose server is grpc-go's. Without etcd it is skipped.

setDefaultTimeout(60_000);

describe.skipIf(!isInPath("etcd"))("etcd", () => {
  test("is waited for until it serves; it does not know another service", async () => {
    using folder = temporaryFolder();
    const [client, peer] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${client}`;
    const clients = ["--listen-client-urls", url, "--advertise-client-urls", url];
    const peers = ["--listen-peer-urls", `http://127.0.0.1:${peer}`];
    const argv = ["etcd", "--data-dir", folder.path, "--unsafe-no-fsync", ...clients, ...peers];
    const etcd = Bun.spawn(argv, { stdio: ["ignore", "ignore", "ignore"] });
    try {
      const wait = ["wait", "--sidecar", "none"];
      expect((await ebb([...wait, `grpc://localhost:${client}`])).code).toBe(0);
      const ended = await ebb([...wait, "--wait-timeout", "300ms", `grpc://localhost:${client}/shop`]);
      expect(ended.code).toBe(69);
      expect(lineOf(ended, "cannot go on").reason).toEndWith(': its health service does not know "shop"');
    } finally {
      etcd.kill();
      await etcd.exited;
    }
  });
});
