// bun inside.ts FILE EBB [MS] lets pods go in each way, by test/cluster/rolls, in the cluster of with-images.ts: for MS, or
// once in each way. Each roll that has ended is in FILE at once, as one of the executable EBB; what has the fewest is next.
import { writeFileSync } from "node:fs";
import { namespace } from "../../cluster/cluster.ts";
import { startIstio } from "../../cluster/istio/istio.ts";
import { goings, roll } from "../../cluster/rolls/roll.ts";
import { labelsOf, type Way, type Roll as Which, ways } from "../../cluster/rolls/ways.ts";
import { startInstallation } from "../../cluster/webhook/installation.ts";
import { addRoll, type LostRequest, type Roll, readRolls } from "./record.ts";

const [, , file = "", ebb = "", ms] = process.argv;
const AT_ONCE = 2;

interface Cell extends Which {
  readonly way: Way;
}

const cells: readonly Cell[] = (["server", "worker", "job"] as const).flatMap((shape) =>
  [0, 3000, 20_000].flatMap((needsMs) =>
    ways.filter((way) => shape === "server" || !way.isForServers).map((way) => ({ way, shape, needsMs })),
  ),
);

const begun = new Map<Cell, number>();
const { rolls: former } = readRolls(file, ebb);
for (const cell of cells)
  begun.set(
    cell,
    former.filter(
      ({ way, shape, needsMs }) => way === cell.way.name && shape === cell.shape && needsMs === cell.needsMs,
    ).length,
  );

/** Returns the cell with the fewest rolls; undefined if that is all. */
function next(): readonly [Cell, number] | undefined {
  const [cell, count] = [...begun].toSorted(([, a], [, b]) => a - b)[0] as [Cell, number];
  if (ms === undefined ? count > 0 : performance.now() > untilMs) return undefined;
  begun.set(cell, count + 1);
  return [cell, count];
}

await using webhook = await startInstallation({ webhook: { replicas: 1 } });
await startIstio();
const untilMs = performance.now() + Number(ms);

async function rollOnce({ way, shape, needsMs }: Cell, count: number): Promise<void> {
  const going = Object.keys(goings)[count % Object.keys(goings).length] as keyof typeof goings;
  await using here = await (way.by === "webhook" ? webhook.namespace() : namespace(labelsOf(way)));
  const at = new Date().toISOString();
  const counted = await roll(here, way, { shape, needsMs, going });
  const { sent, before, after, goneMs, lostIn, lostOut, deletedAt, logs } = counted;
  const which = { ebb, way: way.name, shape, needsMs, going: shape === "job" ? "deletion" : going };
  const record: Roll = { ...which, at, sent, before, after, lostOut, goneMs };
  const lost = lostIn.map((loss): LostRequest => {
    const since = Object.entries(deletedAt).map(([pod, time]) => [pod, (Date.parse(loss.at) - time) / 1000]);
    return { ...loss, ...which, roll: at, sinceDeletion: Object.fromEntries(since) };
  });
  addRoll(file, record, lost);
  if (lostIn.length + lostOut.length > 0) writeFileSync(`${file}-${at}.log`, logs);
  console.log(
    `${at} ${shape}, ${way.name}, ${needsMs} ms, ${going}: lost ${lostIn.length} in, ${JSON.stringify(lostOut)} out`,
  );
}

async function lane(): Promise<void> {
  for (let turn = next(); turn !== undefined; turn = next()) await rollOnce(...turn);
}

await Promise.all(Array.from({ length: AT_ONCE }, lane));
