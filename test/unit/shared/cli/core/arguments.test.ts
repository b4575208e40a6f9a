import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HelpAsked, parseArguments } from "../../../../../src/shared/cli/core/arguments.ts";
import { pickOptions } from "../../../../../src/shared/cli/core/options.ts";

const options = pickOptions("quit", "quitOn", "grace", "signalGroup", "quiet");

/** Without what is not there. */
function read(args: readonly string[], mayMix = false): object {
  const { flags, operands, length, problems } = parseArguments(args, options, mayMix);
  return {
    flags: Object.fromEntries(flags),
    length,
    ...(operands.length === 0 ? {} : { operands }),
    ...(problems.length === 0 ? {} : { problems }),
  };
}

describe("flags are read up to the command", () => {
  test.each<[string, readonly string[], object, number]>([
    ["nothing at all", [], {}, 0],
    ["no flags", ["app", "--grace", "5s"], {}, 0],
    ["no flags before --", ["--", "app"], {}, 1],
    ["a value of its own", ["--grace", "5s", "app"], { grace: ["5s"] }, 2],
    ["a value after =", ["--grace=5s", "app"], { grace: ["5s"] }, 1],
    ["a value with =", ["--quit=http://h/?a=b", "x"], { quit: ["http://h/?a=b"] }, 1],
    ["an empty value", ["--grace=", "--grace", "", "--"], { grace: ["", ""] }, 4],
    ["a value of several lines", ["--quit=a\nb=c"], { quit: ["a\nb=c"] }, 1],
    ["a value that looks like a flag", ["--grace", "--signal-group", "app"], { grace: ["--signal-group"] }, 2],
    ["a negative value", ["--grace", "-1s"], { grace: ["-1s"] }, 2],
    ["a switch, which takes no value", ["--signal-group", "true", "app"], { "signal-group": ["true"] }, 1],
    ["a switch that is turned off", ["--signal-group=false", "app"], { "signal-group": ["false"] }, 1],
    ["the same flag again", ["--quit", "a", "--quit=b"], { quit: ["a", "b"] }, 3],
    [
      "several flags",
      ["--signal-group", "--quit-on", "never", "--", "--grace"],
      { "signal-group": ["true"], "quit-on": ["never"] },
      4,
    ],
    ["only the first --", ["--", "--", "app"], {}, 1],
    ["a lone -, which is a command", ["--signal-group", "-", "x"], { "signal-group": ["true"] }, 1],
    ["an empty command", ["--signal-group", "", "--quiet"], { "signal-group": ["true"] }, 1],
  ])("%s", (_, args, flags, length) => {
    expect(read(args)).toEqual({ flags, length });
  });
});

describe("where they may mix, operands stand before, between and after flags, up to --", () => {
  test.each<[readonly string[], readonly string[], object, number]>([
    [
      ["a", "--grace", "5s", "b", "--signal-group", "c"],
      ["a", "b", "c"],
      { grace: ["5s"], "signal-group": ["true"] },
      6,
    ],
    [["a", "--", "b", "--signal-group"], ["a"], {}, 2],
    [["-", "--quiet"], ["-"], { quiet: ["true"] }, 2],
    [["", "x"], ["", "x"], {}, 2],
  ])("%j", (args, operands, flags, length) => {
    expect(read(args, true)).toEqual({ flags, operands, length });
  });
});

describe("what is wrong is said:", () => {
  test.each<[readonly string[], readonly string[]]>([
    [["--nonsense"], ["unknown flag --nonsense"]],
    [["--nonsense=5"], ["unknown flag --nonsense"]],
    [["-g"], ["unknown flag -g; see ebb help init"]],
    [["-X"], ["unknown flag -X"]],
    [["-grace=5s"], ["unknown flag -grace; did you mean --grace?"]],
    [["---grace"], ["unknown flag ---grace; did you mean --grace?"]],
    [["--=5"], ["unknown flag --"]],
    [["--gra"], ["unknown flag --gra; did you mean --grace?"]],
    [["--gr"], ["unknown flag --gr"]],
    [["--grace 5s"], ["unknown flag --grace ***; the flag and its value are one word: write --grace=VALUE"]],
    [["--gracee 5s"], ["unknown flag --gracee ***; did you mean --grace?"]],
    [["--nonsense http://u:secret@h/"], ["unknown flag --nonsense ***"]],
    [["--gracee"], ["unknown flag --gracee; did you mean --grace?"]],
    [["--gace"], ["unknown flag --gace; did you mean --grace?"]],
    [["-v"], ["unknown flag -v; did you mean ebb --version?"]],
    [["--version"], ["unknown flag --version; did you mean ebb --version?"]],
    [["--verison"], ["unknown flag --verison; did you mean ebb --version?"]],
    [["--hepl"], ["unknown flag --hepl; did you mean ebb --help?"]],
    [["--license"], ["unknown flag --license; did you mean ebb --licenses?"]],
    [["--verbose"], ["unknown flag --verbose"]],
    [["-1"], ["unknown flag -1"]],
    [["--grice"], ["unknown flag --grice; did you mean --grace?"]],
    [["--grove"], ["unknown flag --grove"]],
    [["--Quiet"], ["unknown flag --Quiet; did you mean --quiet?"]],
    [["--QUIT-ON"], ["unknown flag --QUIT-ON; did you mean --quit-on?"]],
    [["--quit_on"], ["unknown flag --quit_on; did you mean --quit-on?"]],
    [["--garce"], ["unknown flag --garce; did you mean --grace?"]],
    [["--constructor"], ["unknown flag --constructor"]],
    [["--grace"], ["--grace: expected a value (D): a duration such as 30s, 1m30s or 500ms"]],
    [
      ["--one", "--two=2", "--quit-on"],
      [
        "unknown flag --one",
        "unknown flag --two",
        "--quit-on: expected a value (always|success|never): always, success or never",
      ],
    ],
  ])("%j", (args, problems) => {
    expect(read(args)).toMatchObject({ flags: {}, problems });
  });

  test.each([
    [["-X", "POST"], "unknown flag -X; the method is the first word: ebb request POST URL"],
    [["-d", "{}"], "unknown flag -d; did you mean --body?"],
    [["-H", "a: b"], "unknown flag -H; did you mean --header?"],
    [["-m", "5"], "unknown flag -m; did you mean --timeout?"],
    [["-t", "5"], "unknown flag -t; did you mean --wait-timeout?"],
    [["-wait", "tcp://db:1"], "unknown flag -wait; did you mean --wait-timeout D, or --ready URL?"],
    [["-e", "143"], "unknown flag -e; see ebb help init"],
    [["-p", "TERM"], "unknown flag -p; see ebb help init"],
    [["-s"], "unknown flag -s; see ebb help init"],
    [["--verbose"], "unknown flag --verbose; did you mean --log-level debug?"],
    [["-v"], "unknown flag -v; did you mean --log-level debug, or ebb --version?"],
    [["--no-such"], "unknown flag --no-such"],
  ])("%j of another tool", (args, problem) => {
    const all = pickOptions(
      "body",
      "header",
      "timeout",
      "waitTimeout",
      "noWait",
      "expectExit",
      "parentDeath",
      "logLevel",
    );
    expect(parseArguments(args, all, true).problems).toEqual([problem]);
  });

  test("and the flags around it are read all the same", () => {
    expect(read(["--signal-group", "--nonsense", "--grace", "5s"])).toEqual({
      flags: { "signal-group": ["true"], grace: ["5s"] },
      length: 4,
      problems: ["unknown flag --nonsense"],
    });
  });
});

describe("help is asked for", () => {
  test.each([
    ["first", ["-h"]],
    ["among flags", ["--signal-group", "--help", "--grace"]],
    ["after what is wrong", ["--nonsense", "5s", "--help"]],
  ])("%s", (_, args) => {
    expect(() => read(args, true)).toThrow(HelpAsked);
  });

  test.each([
    ["after --", ["--", "--help"], false],
    ["after the first operand of a command line", ["app", "-h"], false],
    ["as a flag's value", ["--grace", "-h"], true],
  ])("but not %s", (_, args, mayMix) => {
    expect(() => read(args, mayMix)).not.toThrow();
  });

  test("also after an operand, where they may mix", () => {
    expect(() => read(["http://h/", "--help"], true)).toThrow(HelpAsked);
  });
});

test("all words after -- belong to the child", () => {
  const word = fc.oneof(fc.string(), fc.constantFrom("--", "-", "--signal-group", "--grace", "--nonsense", "5s"));
  fc.assert(
    fc.property(fc.array(word), fc.boolean(), (command, mayMix) => {
      const args = ["--signal-group", "--grace=5s", "--", ...command];
      expect(read(args, mayMix)).toEqual({ flags: { "signal-group": ["true"], grace: ["5s"] }, length: 3 });
    }),
  );
});
