import { compiledProgram } from "./compile.ts";
import { type ProgramName, programOf, programs } from "./programs.ts";

// bun test/sidecars/build.ts sidecars|cluster|orchestrators|bench|release|NAME... compiles these programs, and prints their paths.

for (const word of process.argv.slice(2)) {
  const names = namesOf(word);
  if (names.length === 0) throw new Error(`${word}: expected any of ${Object.keys(programs).join(", ")}`);
  for (const name of names) console.log(compiledProgram(name, console.error).path);
}

function namesOf(word: string): readonly ProgramName[] {
  const all = Object.keys(programs) as ProgramName[];
  return all.filter((name) => name === word || programOf(name).usedBy.some((user) => user === word));
}
