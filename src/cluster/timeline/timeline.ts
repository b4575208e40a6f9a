import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import type { Environment } from "../../shared/core/environment.ts";
import { EXIT, Failure, INPUT_EXIT } from "../../shared/core/exit.ts";
import { SIG } from "../../shared/core/signal.ts";
import { cannotAccess } from "../../shared/core/system-error.ts";
import { counted } from "../../shared/core/wording.ts";
import { piecesOf } from "../../shared/io/input.ts";
import { exit } from "../../shared/native/exit.ts";
import { hasColours, isTerminal } from "../../shared/output/live.ts";
import { writeError, writeStreamed } from "../../shared/output/output.ts";
import type { Signals } from "../../shared/process/signals.ts";
import { onStop } from "../../shared/process/stop.ts";
import { createJoiner } from "./core/joined.ts";
import { mixedSources } from "./core/mixed.ts";
import { drawSvg } from "./core/svg.ts";
import { drawText } from "./core/text.ts";
import { type Line, readLine, timelineOf } from "./core/timeline.ts";

/** The most characters of a line that are kept: ebb writes no longer lines. */
const LONGEST_LINE = 64 * 1024;
/** The most lines of ebb that are kept. A container's run has 20, and one for each change of what is in flight. */
const MOST_LINES = 50_000;

/**
 * Reads logs (`-` and nothing: stdin), prints their timeline, and writes it to the file `svg`. Resolves to the exit code.
 * @throws Failure if a file cannot be read or written (71), or if no line is one of ebb's (65)
 */
export async function showTimeline(
  paths: readonly string[],
  svg: string | undefined,
  { env, signals }: { readonly env: Environment; readonly signals: Signals },
): Promise<number> {
  if (paths.length === 0 && isTerminal(0)) {
    throw new Failure(EXIT.usage, "timeline: expected logs on stdin, or FILE; ebb timeline --help has examples");
  }
  const kept = new Map<string, Line>(); // by their text: overlapping logs have lines twice
  let leftOut = 0;
  for (const path of paths.length === 0 ? ["-"] : paths) {
    const source = nameOf(path);
    const join = createJoiner();
    for await (const texts of linesIn(path, signals)) {
      for (const line of texts.flatMap((text) => readLine(join(text) ?? "", source) ?? [])) {
        const key = JSON.stringify(line);
        if (kept.size < MOST_LINES) kept.set(key, line);
        else if (!kept.has(key)) leftOut += 1;
      }
    }
  }
  if (kept.size === 0) {
    const how = "kubectl logs -l app=web --all-containers --prefix --tail=-1 | ebb timeline";
    throw new Failure(INPUT_EXIT, `timeline: no JSON line of ebb run or ebb drain: try ${how}`);
  }
  if (leftOut > 0) {
    const what = counted(leftOut, "line");
    writeError(`ebb: timeline: warning: left out ${what}: a timeline has at most ${MOST_LINES} lines of ebb\n`);
  }
  const lines = [...kept.values()];
  for (const source of mixedSources(lines)) {
    writeError(
      `ebb: timeline: warning: ${source} is one row, but has the lines of several containers: name each by kubectl logs --prefix\n`,
    );
  }
  const timeline = timelineOf(lines);
  try {
    if (svg !== undefined) writeFileSync(svg, drawSvg(timeline));
  } catch (error) {
    throw cannotAccess(svg ?? "", error);
  }
  const style = (text: string, colour: number) => (hasColours(env, 1) ? `\x1b[${colour}m${text}\x1b[0m` : text);
  const shown = drawText(timeline, process.stdout.columns || 80, style);
  await writeStreamed(new TextEncoder().encode(`${shown.join("\n")}\n`)); // its texts are printable, its colours are not
  return EXIT.ok;
}

/** Returns the name of a file's row. Of a container's log on its node that is the pod and the container. */
function nameOf(path: string): string {
  if (path === "-") return "stdin";
  const [, pod, container] = ON_NODE.exec(path) ?? [];
  return pod === undefined ? basename(path, ".log") : `${pod}/${container}`;
}

/** `/var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log` (kubernetes, pkg/kubelet/kuberuntime/helpers.go). */
const ON_NODE = /(?:^|\/)[^/_]+_([^/_]+)_[^/_]+\/([^/]+)\/\d+\.log$/;

/** Yields the lines of a file or of stdin, as many as come at once. @throws Failure if it cannot be read */
async function* linesIn(path: string, signals: Signals): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const piece of path === "-" ? stdin(signals) : piecesOf(path)) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop()?.slice(0, LONGEST_LINE) ?? "";
      yield lines;
      await Bun.sleep(0); // so that signals are seen
    }
  } catch (error) {
    throw cannotAccess(path, error);
  }
  yield [rest];
}

/** Returns stdin. Ctrl-C also ends the `kubectl logs -f` or stern that writes to it: only the second one ends ebb. */
function stdin(signals: Signals): AsyncIterable<Uint8Array> {
  let count = 0;
  onStop(signals, (signal) => {
    count += 1;
    if (count > 1 || signal !== SIG.INT) exit(128 + signal);
  });
  return Bun.stdin.stream();
}
