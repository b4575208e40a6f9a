import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SIG } from "../../src/shared/core/signal.ts";
import { childPath } from "../harness/compiled.ts";
import { ebb, lineOf, startEbb, temporaryFolder, timeOf, until } from "../harness/ebb.ts";
import { timelineIn } from "../unit/cluster/timeline/core/log-lines.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { holdRequest, startBackend, startProxy } from "./traffic.ts";

setDefaultTimeout(20_000);

describeAgainstEnvoy("ebb timeline", () => {
  test.concurrent("draws what an ebb next to a real Envoy logged", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const limits = ["--drain", "20s", "--min-drain", "200ms", "--log-format", "json"];
    const child = [childPath(), "record", `${SIG.TERM}`];
    await using started = startEbb(["run", "--admin", envoy.admin, ...limits, "--", ...child]);
    await until("the child is ready", () => started.stdout() === "ready\n");
    const held = await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1");
    started.kill("SIGTERM");
    await says(started, '"requests":1');
    expect(await held.finish()).toBe("200 /hold/1");
    const ended = await started.ended;

    using folder = temporaryFolder();
    const path = join(folder.path, "web-1.log");
    const lines = ended.stderr.trimEnd().split("\n");
    writeFileSync(path, lines.join("\n"));
    const { code, stdout, stderr } = await ebb(["timeline", path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")[2]).toMatch(/^web-1 ░+━+▒+1▒[▒0]*▓+█+ +0$/);

    const { bars = [], exits } = timelineIn(lines).rows[0] ?? {};
    expect(bars.map(({ phase }) => phase)).toEqual(["wait", "run", "drain", "stop", "quit"]);
    expect(exits).toEqual([0]);
    expect(bars[2]?.inFlight.map(({ count }) => count)).toEqual([1, 0]);
    const times = ["started the command", "received a stop signal: draining", "drain ended"].map((msg) =>
      timeOf(lineOf(ended, msg)),
    );
    const apart = times.map((time, at) => Math.abs(time - (bars[at + 1]?.from ?? 0)));
    expect(Math.max(...apart)).toBeLessThan(2); // ms: `time` has whole ones, `tookMs` tenths, and a line is written a moment later
  });
});
