import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
import { timelineIn } from "../../unit/cluster/timeline/core/log-lines.ts";
import { namespace } from "../cluster.ts";
import { restartUnderLoad } from "./rollout.ts";

const minimum = ["--min-drain", "2s"]; // less than the long requests take

test("ebb timeline draws a rolling restart from what kubectl logs --prefix prints", async () => {
  await using here = await namespace();
  const way = {
    name: "with `ebb run --drain`, and a hook in the proxy's container",
    isNative: false,
    run: ["--drain", "45s", ...minimum, "--pod-grace", "60s"],
    envoyHook: ["drain", ...minimum, "--pod-grace", "60s"],
  };
  const { logs: former } = await restartUnderLoad(here, way);
  const all = ["--all-containers", "--prefix", "--tail=-1"];
  const present = await here.kubectl("logs", "--selector", "app=web", ...all);
  using folder = temporaryFolder();
  const [before, after] = [join(folder.path, "before.log"), join(folder.path, "after.log")];
  writeFileSync(before, former);
  writeFileSync(after, present);
  const { code, stdout, stderr } = await ebb(["timeline", after, before]);
  console.log(stdout);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const rows = stdout.split("\n").slice(2);
  expect(rows.filter((row) => /\/app +░+━+▒[▒\d]*\d[▒\d]*▓+ +(0|143)$/.test(row))).toHaveLength(2);
  expect(rows.filter((row) => /\/envoy +▒[▒\d]*$/.test(row))).toHaveLength(2);
  expect(rows.filter((row) => /\/app +░+━+ +›$/.test(row))).toHaveLength(2);

  const apps = timelineIn(`${former}\n${present}`.split("\n")).rows.filter(({ container }) => container === "app");
  const phases = apps.map(({ bars }) => bars.map(({ phase }) => phase).join());
  expect(phases.toSorted()).toEqual(["wait,run", "wait,run", "wait,run,drain,stop", "wait,run,drain,stop"]);
});
