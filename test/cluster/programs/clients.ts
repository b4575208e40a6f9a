// bun clients.ts JSON runs the clients of mix.ts, which call what the JSON (Callee) says. At SIGUSR1 they end; what became of
// their requests is then printed as JSON.
import { once } from "node:events";
import { startMix } from "./mix.ts";

const ends = once(process, "SIGUSR1");
const mix = await startMix(JSON.parse(process.argv[2] as string));
console.log("under load");
await ends;
console.log(JSON.stringify(await mix.end()));
process.exit(0); // connections of HTTP/2 are still open
