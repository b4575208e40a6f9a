import { changed, type Values } from "../../../shared/cli/core/option.ts";
import { optionsOf } from "../../../shared/cli/core/options.ts";
import { scopeOptions } from "../../api/core/kubectl-options.ts";
import { reaperOptions } from "../../reaper/core/reaper-options.ts";

const { namespace, kubeconfig, context } = reaperOptions;

/** The options of `ebb doctor`. */
export const doctorOptions = {
  namespace: changed(namespace, { group: "cluster", help: "-n: only these namespaces" }),
  kubeconfig,
  context,
  ...scopeOptions,
  ...optionsOf("doctor"),
};

export type DoctorSettings = Values<typeof doctorOptions>;
