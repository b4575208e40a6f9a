import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { listenDeaf } from "../../faults/deaf.ts";
import { nextAddress, urlOf } from "../../faults/place.ts";
import { startEbb, until } from "../../harness/ebb.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nLIVE\n";

test.each(["http", "tcp"])(
  "a target that listens and accepts nothing costs no descriptors, and is ready once it accepts (%s)",
  async (scheme) => {
    const place = nextAddress();
    const deaf = listenDeaf(place);
    const target = scheme === "http" ? `${urlOf(place)}/ready` : urlOf(place).replace("http", "tcp");
    await using started = startEbb(["wait", "--sidecar", "none", "--log-level", "debug", target]);
    const attempts = () => started.stderr().split('"msg":"ebb: not ready yet"').length;
    await until("it has been asked a hundred times", () => attempts() > 100, 30_000);
    expect(readdirSync(`/proc/${started.pid}/fd`).length).toBeLessThan(30);
    expect(started.stderr()).toContain("a process listens there, but accepts no connection");
    deaf[Symbol.dispose]();
    const server = Bun.listen({ ...place, socket: { data: (socket) => void socket.write(ok) } });
    expect((await started.ended).code).toBe(0);
    server.stop(true);
  },
  60_000,
);
