import type { Environment } from "../../core/base/environment.ts";
import { oneLine } from "../../core/base/text.ts";
import { counted } from "../../core/base/wording.ts";
import type { DoctorSettings } from "../../core/cli/cluster/doctor-options.ts";
import type { Finding } from "../../core/doctor/finding.ts";
import {
  type Component,
  componentFinding,
  describeComponent,
  registrationFindings,
  webhooksOf,
} from "../../core/doctor/installation.ts";
import { namespaceFindings } from "../../core/doctor/namespaces.ts";
import { DOCTOR_EXIT, EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import { writeOutput } from "../../system/output/output.ts";
import type { Signals } from "../../system/process/signals.ts";
import { isApiFailure } from "../api/api-error.ts";
import { connect } from "../api/client.ts";
import { stopsOf } from "../controller/stops.ts";
import { examinePods, examineWorkloads, labelsOf, readNamespaces, refusedOwners } from "./examine.ts";
import { formerReplicas, leftBindings, readComponents, readRegistrations } from "./installation.ts";
import { createReader, type Reader } from "./read.ts";

/** What `ebb doctor --json` prints. */
interface Report {
  /** What is installed; undefined if it may not be read. */
  readonly components: readonly Component[] | undefined;
  readonly findings: readonly Finding[];
  /** How many pods run. */
  readonly pods: number;
  /** How many of them have ebb. */
  readonly injected: number;
  /** What could not be read: the API server's refusals. */
  readonly refusals: readonly string[];
}

interface Around {
  readonly env: Environment;
  readonly log: Log;
  readonly signals: Signals;
}

/**
 * Runs `ebb doctor`: reads the cluster without changing anything, and writes a report to stdout. Resolves with the exit
 * code: 0, or 1 if there are findings. What may not be read is told in the report.
 * @throws Failure 69 if the API server cannot be reached or a signal comes, 64 if a namespace that was named does not
 * exist
 */
export async function examineCluster(settings: DoctorSettings, { env, log, signals }: Around): Promise<number> {
  const { kubeconfig, context, namespace, json } = settings;
  const { first: signal } = stopsOf(signals);
  try {
    const reader = createReader(await connect({ env, kubeconfig, context }, log), signal);
    const all = await examineAll(reader, [...new Set(namespace.flat())]);
    const report = { ...all, refusals: reader.refusals };
    await writeOutput(json ? `${JSON.stringify(report, null, 2)}\n` : textOfReport(report));
    return all.findings.length > 0 ? DOCTOR_EXIT.found : EXIT.ok;
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
  const registrations = await readRegistrations(reader);
  const webhooks = webhooksOf(registrations);
  const namespaces = await readNamespaces(reader, names);
  const labels = labelsOf(namespaces);
  const inPods = await examinePods(reader, scopes, { labels, webhooks });
  const components = await readComponents(reader);
  const reaper = components === undefined || components.some(({ component }) => component === "reaper");
  const installed = { webhook: webhooks.count !== 0, reaper, selections: webhooks.selections };
  return {
    ...inPods,
    components,
    findings: [
      ...(registrations ?? []).flatMap((each) => registrationFindings(each, components)),
      ...(components ?? []).flatMap((each) => componentFinding(each) ?? []),
      ...(await formerReplicas(reader, components ?? [])),
      ...(await leftBindings(reader)),
      ...namespaces.flatMap((each) => namespaceFindings(each, installed)),
      ...(await examineWorkloads(reader, scopes, labels)),
      ...(await refusedOwners(reader, scopes, { labels, webhooks })),
      ...inPods.findings,
    ],
  };
}

/** The most findings in a text. */
const MOST_LINES = 100;

/**
 * Formats the report of `ebb doctor` as text: what is installed, the first 100 findings (`MOST_LINES`), what could not
 * be read, the counts.
 */
function textOfReport({ components, findings, pods, injected, refusals }: Report): string {
  const missing = ["webhook", "reaper"].filter((name) => !components?.some(({ component }) => component === name));
  const installed = [...(components ?? []).map(describeComponent), ...missing.map((name) => `${name}: not installed`)];
  const told = findings.slice(0, MOST_LINES).map(({ object, message }) => `${object}: ${message}`);
  const rest = findings.length - told.length;
  const lines = [...(components === undefined ? [] : installed), ...told];
  if (rest > 0) lines.push(`and ${rest} more: --json lists all`);
  lines.push(...refusals.map((refusal) => `not looked at: ${refusal}`));
  lines.push(`${counted(pods, "pod")}, ${injected} with ebb: ${counted(findings.length, "finding")}`);
  return lines.map((line) => `${oneLine(line)}\n`).join("");
}
