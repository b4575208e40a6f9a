// bun worker.ts asks the sidecar's admin interface all the time, and writes `lost` where that does not answer. At SIGUSR1 it
// ends with 0, at SIGUSR2 with 3.
export {};

process.on("SIGUSR1", () => process.exit(0));
process.on("SIGUSR2", () => process.exit(3));

for (let asked = 0; ; asked += 1) {
  const answer = await fetch("http://127.0.0.1:9901/ready").then(({ status }) => status, String);
  if (answer !== 200) console.log("lost", answer);
  if (asked === 0) console.log("works");
  await Bun.sleep(20);
}
