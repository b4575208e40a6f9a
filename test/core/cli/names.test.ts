import { expect, test } from "bun:test";
import { commands } from "../../../src/commands.ts";
import { commandNames } from "../../../src/core/cli/names.ts";

test("the names that are no programs are those of the commands, and help", () => {
  expect(commandNames).toEqual([...Object.keys(commands), "help"]);
});
