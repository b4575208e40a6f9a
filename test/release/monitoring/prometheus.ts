import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { collect, temporaryFolder, until } from "../../harness/ebb.ts";
import { freePort } from "../../harness/free-port.ts";

/** A real Prometheus. */
export interface Prometheus extends AsyncDisposable {
  /** Resolves with the values of an expression's samples now. Rejects if Prometheus refuses it. */
  query(expr: string): Promise<readonly number[]>;
  /** Resolves with its alerting rules. */
  rules(): Promise<readonly Rule[]>;
}

/** What has become of a rule. */
interface Rule {
  readonly name: string;
  readonly health: string;
  readonly state: string;
}

/** Starts Debian's Prometheus, which scrapes these addresses and reads this file of rules each second. */
export async function startPrometheus(targets: readonly string[], ruleFile: string): Promise<Prometheus> {
  const folder = temporaryFolder();
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [ruleFile],
    scrape_configs: [{ job_name: "ebb", static_configs: [{ targets }] }],
  };
  writeFileSync(join(folder.path, "prometheus.yml"), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", `--web.listen-address=${address}`];
  const child = Bun.spawn(["setpriv", "--pdeathsig", "KILL", "prometheus", ...flags], {
    cwd: folder.path,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const stderr = collect(child.stderr);
  await until("Prometheus is ready", async () => {
    if (child.exitCode !== null) throw new Error(`prometheus ended: ${stderr.text()}`);
    return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok;
  });
  const ask = async (path: string) => {
    const { data, error } = (await (await fetch(`http://${address}/api/v1/${path}`)).json()) as Answer;
    if (error !== undefined) throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    async query(expr) {
      const { result = [] } = await ask(`query?query=${encodeURIComponent(expr)}`);
      return result.map(({ value: [, text] }) => Number(text));
    },
    rules: async () => ((await ask("rules")).groups ?? []).flatMap(({ rules }) => rules),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      folder[Symbol.dispose]();
    },
  };
}

interface Answer {
  readonly error?: string;
  readonly data: {
    readonly result?: readonly { readonly value: readonly [number, string] }[];
    readonly groups?: readonly { readonly rules: readonly Rule[] }[];
  };
}
