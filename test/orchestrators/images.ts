import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { Content } from "../cluster/content.ts";
import { istioProxy } from "../cluster/istio/images.ts";
import { librariesOf } from "../cluster/libraries.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import type { ProgramName } from "../sidecars/programs.ts";
import { python, pythonLibrary, pythonPackages } from "./python.ts";

/** The contents of the images that these tests need beside those of test/cluster, or in the place of one. */
export const contents = {
  workflowController: () => alone("argo-workflow-controller"),
  argoexec: () => alone("argoexec"),
  kuberay: () => alone("kuberay"),
  /** Kueue, where its chart starts it, and as a user that is not root. */
  kueue: () => ({
    files: { manager: compiledProgram("kueue").path },
    config: { User: "65532:65532", Entrypoint: ["/manager"] },
  }),
  /** Ray on Debian's Python, with the programs that KubeRay's commands and probes call. */
  ray: () => {
    const packages = pythonPackages("ray");
    const files = {
      ...debian("sh", "bash", "wget", "grep", "sleep").files,
      [python.slice(1)]: python,
      ...inFolder("p", packages),
      ...inFolder("usr/lib/python3.11", pythonLibrary()),
      "usr/lib/python3/dist-packages/ray.pth": join(import.meta.dirname, "python", "ray.pth"),
      "bin/ray": join(import.meta.dirname, "python", "ray"),
    };
    const linked = Object.values(files).filter((path) => /(\.so|\/gcs_server|\/raylet)$/.test(path));
    return { files: { ...files, ...librariesOf(python, ...linked) }, config: { Entrypoint: ["/bin/ray"] } };
  },
  /** Debian's sh, and the programs that Airflow runs with it. */
  shell: () => debian("sh", "sleep", "cat"),
  /** Istio's proxy with a shell, as Istio's own image has one: Argo signals a container by a program in it. */
  istioProxy: () => {
    const { files, config } = istioProxy();
    return { files: { ...files, ...debian("sh", "true").files }, config };
  },
} satisfies Record<string, () => Content>;

/** Returns an image of one static program, in /bin. */
function alone(name: ProgramName): Content {
  const { path } = compiledProgram(name);
  const program = `bin/${path.slice(path.lastIndexOf("/") + 1)}`;
  return { files: { [program]: path }, config: { Entrypoint: [`/${program}`] } };
}

/** Returns an image of programs in Debian's /bin. The first is its entrypoint. */
function debian(...names: readonly string[]): Content {
  const programs = names.map((name) => `/bin/${name}`);
  const files = programs.map((program) => ({ [program.slice(1)]: program, ...librariesOf(program) }));
  return { files: Object.assign({}, ...files), config: { Entrypoint: programs.slice(0, 1) } };
}

/** Returns the files of a folder, below a path in the image. Some of Python's have names that a tar archive cannot hold. */
function inFolder(at: string, folder: string): Content["files"] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  const named = paths.map((path) => [join(at, relative(folder, path)), path] as const);
  return Object.fromEntries(named.filter(([name]) => /^[\x21-\x7e]{1,100}$/.test(name)));
}
