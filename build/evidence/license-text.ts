import type { Component } from "./components.ts";

const heavy = "=".repeat(100);
const light = "-".repeat(100);

/**
 * Returns what `ebb --licenses` prints: a list of all that is inside, parts indented, then each licence text once,
 * below the names of what it covers.
 */
export function licenseText(own: Component, components: readonly Component[]): string {
  const all = [own, ...components].flatMap(withParts);
  const width = Math.max(...all.map(({ label }) => label.length));
  const list = all.map(({ label, component }) => `  ${label.padEnd(width)}  ${component.license}\n`);
  const covered = new Map<string, string[]>();
  for (const { component } of all) {
    for (const text of component.texts) covered.set(text, [...(covered.get(text) ?? []), component.name]);
  }
  const texts = [...covered].map(([text, names]) => `\n${heavy}\n${wrapped(names)}${light}\n\n${text}\n`);
  return `What is inside this executable, and its licences. What is indented is part of what stands above it.\n\n${list.join("")}${texts.join("")}`;
}

type Labelled = { readonly label: string; readonly component: Component };

function withParts(component: Component): readonly Labelled[] {
  const label = labelOf(component);
  const parts = component.parts.flatMap(withParts);
  return [{ label, component }, ...parts.map((part) => ({ ...part, label: `  ${part.label}` }))];
}

/** Returns name and version; a commit is shortened to 12 digits. */
function labelOf({ name, version }: Component): string {
  if (version === undefined) return name;
  return `${name} ${/^[0-9a-f]{40}$/.test(version) ? version.slice(0, 12) : version}`;
}

function wrapped(names: readonly string[]): string {
  const lines = [""];
  for (const [index, name] of names.entries()) {
    const word = index === names.length - 1 ? name : `${name}, `;
    const last = lines.at(-1) as string;
    if (last === "" || last.length + word.trimEnd().length <= heavy.length) lines[lines.length - 1] = last + word;
    else lines.push(word);
  }
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
