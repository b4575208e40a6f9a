import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../harness/ebb.ts";
import { copyOwn, download, go, pinNames, pinsFolder } from "./go.ts";
import { type Program, type ProgramName, packageOf, programOf, programs } from "./programs.ts";

// bun test/sidecars/pin.ts NAME... asks the Go module proxy for all modules of which a program of the table is made,
// and writes down their versions and digests. From then on a build takes these and no others.

for (const name of process.argv.slice(2)) {
  if (!Object.hasOwn(programs, name)) throw new Error(`${name}: expected any of ${Object.keys(programs).join(", ")}`);
  pin(name as ProgramName);
}

/** Pins a program, together with those of the same module that share its pins. */
function pin(name: ProgramName): void {
  const { pins } = programOf(name);
  const group = Object.keys(programs).map((each) => programOf(each as ProgramName));
  const sharing = group.filter((program) => program.pins === pins);
  const wanted = sharing.flatMap((each) => [`${goal(each)}@${each.version}`, ...(each.requires ?? [])]);
  using scratch = temporaryFolder();
  writeFileSync(join(scratch.path, "go.mod"), "module programs\n\ngo 1.26.0\n");
  copyOwn(programOf(name), scratch.path);
  for (const replaced of sharing.flatMap((each) => each.replaces ?? []))
    go(["mod", "edit", `-replace=${replaced}`], scratch.path, "-mod=mod");
  download(["get", ...new Set(wanted)], scratch.path, "-mod=mod");
  for (const program of sharing) {
    const tags = `-tags=${(program.tags ?? []).join()}`;
    download(["list", "-deps", tags, packageOf(program)], scratch.path, "-mod=mod");
  }
  const folder = pinsFolder(programOf(name));
  mkdirSync(folder, { recursive: true });
  for (const file of pinNames) copyFileSync(join(scratch.path, file), join(folder, file));
}

/** Returns the package that is compiled or, for a package main of ours, the module that it uses. */
function goal(program: Program): string {
  return program.own === undefined ? packageOf(program) : program.module;
}
