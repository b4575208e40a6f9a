import fc from "fast-check";

// npm test loads this first: the cases of property tests are the same each time, so that what fails is the change at hand.
// Without it (`bun test FILE`) they are others at each run: that looks further.
fc.configureGlobal({ seed: 42 });
