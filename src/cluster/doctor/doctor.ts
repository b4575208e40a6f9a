import type { Environment } from "../../shared/core/environment.ts";
import { DOCTOR_EXIT, EXIT, Failure } from "../../shared/core/exit.ts";
import { oneLine } from "../../shared/core/text.ts";
import { counted } from "../../shared/core/wording.ts";
import type { Log } from "../../shared/output/log.ts";
import { writeOutput } from "../../shared/output/output.ts";
import type { Signals } from "../../shared/process/signals.ts";
import { isApiFailure } from "../api/api-error.ts";
import { findApiServer } from "../api/client.ts";
import type { CronJob, Node } from "../api/core/objects.ts";
import { stopsOf } from "../controller/stops.ts";
import { OBJECTS } from "../core/installed.ts";
import type { DoctorSettings } from "./core/doctor-options.ts";
import type { Finding } from "./core/finding.ts";
import { imageVolumeFindings, imageVolumeNote } from "./core/image-volume.ts";
import {
  type Component,
  componentOf,
  deploymentFinding,
  describeComponent,
  registrationFindings,
  scheduledOf,
  suspendedFinding,
  webhooksOf,
} from "./core/installation.ts";
import { namespaceFinding } from "./core/namespaces.ts";
import { examinePods, readLabels, refusedOwners } from "./examine.ts";
import { missingSecrets, readDeployments, readRegistrations } from "./installation.ts";
import { createReader, type Reader } from "./read.ts";

/** What `ebb doctor --json` prints. */
interface Report {
  /** What is installed; undefined if it may not be read. */
  readonly components: readonly Component[] | undefined;
  readonly findings: readonly Finding[];
  /** How many pods run, and how many of them have ebb, as far as pods may be read; undefined if none may. */
  readonly pods: number | undefined;
  readonly injected: number | undefined;
  /** What could be better, and is no finding. */
  readonly notes: readonly string[];
  /** What could not be read: the API server's refusals. */
  readonly refusals: readonly string[];
}

interface DoctorContext {
  readonly env: Environment;
  readonly log: Log;
  readonly signals: Signals;
}

/**
 * Runs `ebb doctor`: reads the cluster without changing anything, and writes a report to stdout. Resolves with the exit
 * code: 0, or 1 if there are findings. What may not be read is told in the report.
 * @throws Failure 69 if the API server cannot be reached, nothing may be read or a signal comes, 64 if a namespace that
 * was named does not exist
 */
export async function examineCluster(settings: DoctorSettings, deps: DoctorContext): Promise<number> {
  const { hasRead, ...report } = await readCluster(settings, deps);
  await writeOutput(settings.json ? `${JSON.stringify(report, null, 2)}\n` : textOfReport(report));
  if (!hasRead) throw new Failure(EXIT.unavailable, NOTHING);
  return report.findings.length > 0 ? DOCTOR_EXIT.found : EXIT.ok;
}

async function readCluster(settings: DoctorSettings, { env, log, signals }: DoctorContext) {
  const { kubeconfig, context, namespace } = settings;
  const { first: signal } = stopsOf(signals);
  try {
    const reader = createReader(await findApiServer({ env, kubeconfig, context }, log), signal);
    const all = await examineAll(reader, [...new Set(namespace.flat())]);
    return { ...all, refusals: reader.refusals, hasRead: reader.hasRead };
  } catch (error) {
    if (signal.aborted)
      throw new Failure(EXIT.unavailable, "stopped by a signal before the whole cluster was read; run it again");
    if (isApiFailure(error))
      throw new Failure(EXIT.unavailable, `cannot read from the API server: ${error.message}`, { cause: error });
    throw error;
  }
}

async function examineAll(reader: Reader, names: readonly string[]): Promise<Omit<Report, "refusals">> {
  const scopes = names.length === 0 ? [""] : names.map((name) => `/namespaces/${name}`);
  const deployments = await readDeployments(reader);
  const registrations = await readRegistrations(reader, deployments);
  const webhooks = webhooksOf(registrations);
  const labels = await readLabels(reader, names);
  const cronJobs = (await reader.all<CronJob>("/apis/batch/v1/cronjobs", { labelSelector: OBJECTS }))?.map(scheduledOf);
  const nodes = webhooks.volumes.length === 0 ? [] : ((await reader.all<Node>("/api/v1/nodes", {})) ?? []);
  const note = webhooks.volumes.includes("emptyDir") ? imageVolumeNote(nodes) : undefined;
  const inPods = await examinePods(reader, scopes, { labels, webhooks });
  return {
    ...inPods,
    components: deployments && cronJobs && [...deployments.map(componentOf), ...cronJobs],
    findings: [
      ...(registrations ?? []).flatMap(registrationFindings),
      ...(deployments ?? []).flatMap((each) => deploymentFinding(each) ?? []),
      ...(cronJobs ?? []).flatMap((each) => suspendedFinding(each) ?? []),
      ...(await missingSecrets(reader, deployments ?? [])),
      ...(webhooks.volumes.includes("image") ? imageVolumeFindings(nodes) : []),
      ...[...labels].flatMap(([name, own]) => namespaceFinding(name, own, webhooks) ?? []),
      ...(await refusedOwners(reader, scopes, { labels, webhooks })),
      ...inPods.findings,
    ],
    notes: note === undefined ? [] : [note],
  };
}

const NOTHING =
  "this account may not read anything that ebb doctor looks at: name a namespace that it may read (--namespace), or grant it the permissions in ebb help doctor";

/** The most findings in a text. */
const MOST_LINES = 100;

/**
 * Formats the report of `ebb doctor` as text: what is installed, the first 100 findings (`MOST_LINES`), notes, what
 * could not be read, the counts.
 */
function textOfReport({ components, findings, notes, pods, injected, refusals }: Report): string {
  const missing = ["webhook", "reaper"].filter((name) => !components?.some(({ component }) => component === name));
  const installed = [...(components ?? []).map(describeComponent), ...missing.map((name) => `${name}: not installed`)];
  const shown = findings.slice(0, MOST_LINES).map(({ object, message }) => `${object}: ${message}`);
  const rest = findings.length - shown.length;
  const lines = [...(components === undefined ? [] : installed), ...shown];
  if (rest > 0) lines.push(`and ${rest} more: --json lists all`);
  lines.push(...notes.map((note) => `note: ${note}`));
  lines.push(...refusals.map((refusal) => `not looked at: ${refusal}`));
  const read = pods === undefined ? "no pod may be read" : `${counted(pods, "pod")}, ${injected} with ebb`;
  const part = refusals.length === 0 ? "" : " in what may be read";
  lines.push(`${read}: ${counted(findings.length, "finding")}${part}`);
  return lines.map((line) => `${oneLine(line)}\n`).join("");
}
