import { childPath } from "../compiled.ts";
import { inParallel } from "../harness.ts";
import { ableTo, type Candidate, commandLine, ebb, shown, type Task } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { live } from "./measure.ts";
import { type Sidecar, startSidecar } from "./sidecar.ts";
import { noTarget, targetColumns } from "./table.ts";

interface Faults {
  wrongCodes: number;
  missedQuits: number;
  /** The number of lives in which the quit was sent more than once. */
  moreQuits: number;
  left: number;
}

/** Counts what goes wrong in many starts and exits in a row, each with a sidecar of its own to be quit. */
export const reliability: Figure = {
  name: "reliability",
  async run({ rivals, isQuick }) {
    const times = isQuick ? 100 : 1000;
    const rows: string[][] = [];
    for (const candidate of [ebb, ...rivals])
      for (const width of [1, 4]) rows.push(await measure(candidate, times, width));
    return [
      {
        title: "reliability: starts and exits in a row",
        shows: [
          "codes 0-255 and lives of 0-5 ms by chance; each run has a sidecar of its own to quit",
          ...shown("quit", ableTo("quit", [ebb, ...rivals]), "child clock CODE MICROSECONDS"),
        ],
        columns: [
          "",
          "runs",
          "at a time",
          "wrong codes",
          "missed quits",
          "quit twice",
          "processes left",
          ...targetColumns,
        ],
        rows,
      },
    ];
  },
};

async function measure(candidate: Candidate, times: number, width: number): Promise<string[]> {
  const task = ableTo("quit", [candidate]).length > 0 ? "quit" : "none";
  const faults: Faults = { wrongCodes: 0, missedQuits: 0, moreQuits: 0, left: 0 };
  await using sidecars = new AsyncDisposableStack();
  const free = Array.from({ length: width }, () => sidecars.use(startSidecar()));
  const codes = Array.from({ length: times }, () => Math.floor(Math.random() * 256));
  const runOnce = async (code: number) => {
    const sidecar = free.pop() as Sidecar;
    await judge({ candidate, task, code }, sidecar, faults);
    free.push(sidecar);
  };
  await inParallel(codes, runOnce, width);
  const { wrongCodes, missedQuits, moreQuits, left } = faults;
  const quits = task === "quit" ? [`${missedQuits}`, `${moreQuits}`] : ["-", "-"];
  const target = ["all 0", wrongCodes + missedQuits + moreQuits + left === 0 ? "yes" : "NO"];
  return [
    candidate.name,
    `${times}`,
    `${width}`,
    `${wrongCodes}`,
    ...quits,
    `${left}`,
    ...(candidate === ebb ? target : noTarget),
  ];
}

interface Run {
  readonly candidate: Candidate;
  readonly task: Task;
  readonly code: number;
}

async function judge({ candidate, task, code }: Run, sidecar: Sidecar, faults: Faults): Promise<void> {
  const url = await sidecar.open(0);
  const child = [childPath(), "clock", `${code}`, `${Math.floor(Math.random() * 5000)}`];
  const life = await live(commandLine(candidate, task, url, child));
  const { quits } = await sidecar.close();
  if (life.code !== code) faults.wrongCodes++;
  if (quits === 0 && task === "quit") faults.missedQuits++;
  if (quits > 1) faults.moreQuits++;
  faults.left += life.left;
}
