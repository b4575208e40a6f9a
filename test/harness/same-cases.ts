import fc from "fast-check";

// npm test loads this first, so that property tests have the same cases each time, and a failure is due to the change
// at hand. Without it (`bun test FILE`) each run has other cases, which finds more.
fc.configureGlobal({ seed: 42 });
