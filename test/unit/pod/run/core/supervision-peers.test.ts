import { describe } from "bun:test";
import { testLives } from "./simulated-steps.ts";

const others = "worker is there";

describe("with several app containers", () => {
  testLives({ hasPeers: true }, [
    [
      "the others are told of the start before the wait, and of the end before the quits",
      "begin: arm wait 300000, join; joined: wait; ready: disarm wait, start; started; exit 3: decide 3 ; decided: quit; quit-done: exit 3",
    ],
    [
      "the sidecars are kept while others need them",
      `begin: arm wait 300000, join; joined: wait; ready: disarm wait, start; started; exit 0: warn-of-left, decide 0 ; decided ${others}: stay ${others}, exit 0`,
    ],
    [
      "without a wait the command starts when the others are told",
      "begin: join; joined: start; started; exit 1: decide 1 ",
      { waitMs: undefined },
    ],
    [
      "the others are told of an end after which the sidecars are kept in any case",
      "begin: arm wait 300000, join; joined: wait; ready: disarm wait, start; started; exit 1: decide 1 --quit-on never",
      { quitOn: "never" },
    ],
    [
      "a stop signal ends the start while the others are told",
      "begin: arm wait 300000, join; TERM: disarm wait, stop-waiting, decide 143 ; joined; decided: quit",
    ],
    [
      "the others are told too of a wait that is out of time, and of a command that does not start",
      "begin: arm wait 300000, join; joined: wait; wait over: stop-waiting, give-up-waiting false, decide 69 ; decided: quit",
    ],
    [
      "no signal changes the decision",
      "begin: join; TERM: disarm wait, stop-waiting, decide 143 ; TERM; HUP; decided: quit",
      { waitMs: undefined },
    ],
  ]);
});
