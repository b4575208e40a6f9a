import type { Command, Invocation } from "../command.ts";
import { type Call, readOperandCall } from "../core/call.ts";
import { EXIT, Failure } from "../core/exit.ts";
import { ofOwnCa, installationOptions as options, passedOn } from "../core/installation-options.ts";
import { policyOf } from "../core/policy.ts";
import { nearest } from "../core/suggestion.ts";
import type { Component, Installation } from "../kube/manifests/installation.ts";
import { writeOutput } from "../system/output.ts";

const components: readonly Component[] = ["webhook"];

/** `ebb manifests`: what installs ebb in a cluster, as YAML. */
export const command: Command = {
  summary: "print what installs the webhook, as YAML for kubectl apply",
  usage: "manifests [flags] [webhook]",
  options,
  operands: components,
  main,
};

async function main({ args }: Invocation): Promise<number> {
  const call = readOperandCall(options, { args, env: {} });
  const asked = [...call.operands, ...call.command].map(componentNamed);
  const chosen = asked.length === 0 ? components : components.filter((name) => asked.includes(name));
  const installation = await installationOf(call);
  const { printManifests } = await import("../kube/manifests/manifests.ts");
  writeOutput(printManifests(installation, chosen, args));
  return EXIT.ok;
}

function componentNamed(name: string): Component {
  const known = components.find((each) => each === name);
  if (known !== undefined) return known;
  const near = nearest(name, components);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new Failure(EXIT.usage, `manifests: expected ${components.join(", ")} or nothing, got "${name}"${hint}`);
}

/** @throws Failure 64 for what the webhook would not start with */
async function installationOf(call: Call<typeof options>): Promise<Installation> {
  const { image } = policyOf(call.values);
  const { version } = await import("../../package.json");
  return { ...call.values, image, version, passedOn: given(passedOn, call), ofOwnCa: given(ofOwnCa, call) };
}

/** Those of the flags that were given. */
function given(flags: Partial<typeof options>, { values, texts, origins }: Call<typeof options>): readonly string[] {
  return Object.entries(flags).flatMap(([key, { flag, value }]) => {
    const name = key as keyof typeof options;
    if (origins[name] === "default") return [];
    if (value === undefined) return values[name] === true ? [`--${flag}`] : [];
    return texts[name].map((text) => `--${flag}=${text}`);
  });
}
