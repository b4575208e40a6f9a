import type { Content } from "../cluster/content.ts";
import { istioProxy } from "../cluster/istio/images.ts";
import { librariesOf } from "../cluster/libraries.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import type { ProgramName } from "../sidecars/programs.ts";

/** The contents of the images that these tests need beside those of test/cluster, or in the place of one. */
export const contents = {
  workflowController: () => alone("argo-workflow-controller"),
  argoexec: () => alone("argoexec"),
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
