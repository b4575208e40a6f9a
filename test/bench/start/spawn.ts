export {}; // a module, so that await is allowed

const words = process.argv.slice(2);
if (words[0] === "--version") process.exit(0); // the build asks for it
process.exit(await Bun.spawn(words, { stdio: ["inherit", "inherit", "inherit"] }).exited);
