import { copyFileSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { collect, temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { render } from "../inject/helm.ts";
import { kubectl } from "../kubectl.ts";

/** cert-manager: its definitions in the cluster, its controller and cainjector on this machine; `using` it. */
interface CertManager extends Disposable {
  /** Returns what both have written so far, for people. */
  log(): string;
}

const names = ["cert-manager-controller", "cert-manager-cainjector"] as const;

/** Applies cert-manager's definitions, and starts its programs, which end with this process. Does not wait for them. */
export async function startCertManager(): Promise<CertManager> {
  await kubectl(["apply", "--server-side", "-f", "-"], { stdin: await definitions() });
  const started = names.map((name) => {
    const flags = ["--kubeconfig", process.env.KUBECONFIG ?? "", "--leader-elect=false"];
    const command = ["setpriv", "--pdeathsig", "KILL", compiledProgram(name).path, ...flags];
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    return { child, stderr: collect(child.stderr) };
  });
  return {
    log: () => started.map(({ stderr }) => stderr.text()).join("\n"),
    [Symbol.dispose]() {
      for (const { child } of started) child.kill("SIGKILL");
    },
  };
}

/**
 * Renders the definitions: they are templates of its chart, but lie beside it in its repository until a release adds
 * them.
 */
async function definitions(): Promise<string> {
  using folder = temporaryFolder();
  const { file } = compiledProgram("cert-manager-controller");
  const at = (...path: readonly string[]): string => join(folder.path, ...path);
  mkdirSync(at("templates"));
  copyFileSync(file("cert-manager/Chart.template.yaml"), at("Chart.yaml"));
  copyFileSync(file("cert-manager/values.yaml"), at("values.yaml"));
  copyFileSync(file("cert-manager/templates/_helpers.tpl"), at("templates/_helpers.tpl"));
  cpSync(file("crds"), at("templates/crds"), { recursive: true, filter: (path) => !path.endsWith(".md") });
  return await render({ release: "cert-manager", path: folder.path, namespace: "cert-manager", values: {} });
}
