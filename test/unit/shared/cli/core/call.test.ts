import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Call, readCommandCall, readFlagCall, readOperandCall } from "../../../../../src/shared/cli/core/call.ts";
import { optional } from "../../../../../src/shared/cli/core/option.ts";
import { options, pickOptions } from "../../../../../src/shared/cli/core/options.ts";
import type { Environment } from "../../../../../src/shared/core/environment.ts";
import { Failure } from "../../../../../src/shared/core/exit.ts";

const run = (args: readonly string[], env: Environment = {}): Call<typeof options> =>
  readCommandCall(options, { args, env });

/** The failure's lines. */
function problems(args: readonly string[], env: Environment = {}): readonly string[] {
  try {
    run([...args, "--", "app"], env);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.exitCode).toBe(64);
    return error.message.split("\n");
  }
  return [];
}

describe("a command call is flags, then the command line", () => {
  test.each<[readonly string[], readonly string[], number]>([
    [["app", "-x"], ["app", "-x"], 0],
    [["--", "app", "--quiet"], ["app", "--quiet"], 1],
    [["--quiet", "app", "--", "--quiet"], ["app", "--", "--quiet"], 1],
    [["--grace", "5s", "--", "app"], ["app"], 3],
    [["--quiet"], [], 1],
    [[], [], 0],
  ])("%j", (args, command, commandAt) => {
    expect(run(args)).toMatchObject({ command, commandAt, operands: [] });
  });
});

describe("an operand call is flags and operands, then the command line after --", () => {
  test.each<[readonly string[], readonly string[], readonly string[], number]>([
    [["tcp://db:1", "--quiet", "file:/x"], ["tcp://db:1", "file:/x"], [], 3],
    [["tcp://db:1", "--", "app", "--quiet"], ["tcp://db:1"], ["app", "--quiet"], 2],
    [["--", "app"], [], ["app"], 1],
  ])("%j", (args, operands, command, commandAt) => {
    expect(readOperandCall(options, { args, env: {} })).toMatchObject({ operands, command, commandAt });
  });

  test("and where a command takes neither, the first of them is refused", () => {
    const call = (args: readonly string[]) => () => readFlagCall(options, { args, env: {} }, "config [flags]");
    expect(call(["--quiet"])).not.toThrow();
    expect(call(["a", "b"])).toThrow(new Failure(64, "a: unexpected argument; usage: ebb config [flags]"));
    expect(call(["--", "b"])).toThrow(new Failure(64, "b: unexpected argument; usage: ebb config [flags]"));
  });
});

describe("a flag comes before the environment, and the environment before the default:", () => {
  const variable = { EBB_QUIT_TIMEOUT: "2s", QUIT_REQUEST_TIMEOUT: "3s" };

  test.each<[string, readonly string[], Environment, number, string]>([
    ["nothing is set", [], {}, 5000, "default"],
    ["another tool's variable", [], { QUIT_REQUEST_TIMEOUT: "3s" }, 3000, "QUIT_REQUEST_TIMEOUT"],
    ["ebb's own before another tool's", [], variable, 2000, "EBB_QUIT_TIMEOUT"],
    ["an empty variable sets nothing", [], { ...variable, EBB_QUIT_TIMEOUT: "" }, 3000, "QUIT_REQUEST_TIMEOUT"],
    ["nor does one that is undefined", [], { EBB_QUIT_TIMEOUT: undefined }, 5000, "default"],
    ["the flag before all", ["--quit-timeout", "1s"], variable, 1000, "--quit-timeout"],
    ["the last of several flags", ["--quit-timeout=9s", "--quit-timeout=1s"], {}, 1000, "--quit-timeout"],
  ])("%s", (_, args, env, quitTimeout, origin) => {
    const { values, origins } = run(args, env);
    expect(values.quitTimeout).toBe(quitTimeout);
    expect(origins.quitTimeout).toBe(origin);
  });
});

test("the texts of a call are as they were written, and those of a default as help says it", () => {
  const { texts } = run(["--detect-timeout=00.5s"], { EBB_LOG_LEVEL: "debug" });
  const { detectTimeout, logLevel, quitTimeout, grace, ready, signalGroup } = texts;
  expect([detectTimeout, logLevel, quitTimeout, grace, ready, signalGroup]).toStrictEqual([
    ["00.5s"],
    ["debug"],
    ["5s"],
    [],
    [],
    ["false"],
  ]);
});

test("a bug in an option's syntax is not taken for a bad value", () => {
  const parse = (): string => {
    throw new TypeError("a bug");
  };
  const broken = { broken: optional({ flag: "broken", value: "X", help: "", syntax: { parse, expected: "a word" } }) };
  expect(() => readCommandCall(broken, { args: ["--broken=x"], env: {} })).toThrow(TypeError);
});

describe("a repeatable option", () => {
  const quits = (args: readonly string[], env: Environment = {}) => {
    const { values, origins, texts } = run(args, env);
    return {
      paths: values.quit.map((quit) => (quit === "none" ? quit : quit.target.path)),
      origin: origins.quit,
      texts: texts.quit,
    };
  };

  test("has none by default", () => {
    expect(quits([])).toEqual({ paths: [], origin: "default", texts: [] });
  });

  test("has each flag's value, in order, and then no variable's", () => {
    const flags = ["--quit", "http://h/b", "--quit=GET http://h/a"];
    const texts = ["http://h/b", "GET http://h/a"];
    expect(quits(flags, { EBB_QUIT: "http://h/c" })).toEqual({ paths: ["/b", "/a"], origin: "--quit", texts });
  });

  test("has the values of all its variables", () => {
    const env = { EBB_QUIT: "http://h/a, http://h/b,", ISTIO_QUIT_API: "http://h:15020/" };
    const texts = ["http://h/a", "http://h/b", "http://h:15020/quitquitquit"];
    expect(quits([], env)).toEqual({ paths: ["/a", "/b", "/quitquitquit"], origin: "EBB_QUIT, ISTIO_QUIT_API", texts });
  });
});

describe("every bad option is named at once, with its value and what is expected:", () => {
  const duration = "expected a duration such as 30s, 1m30s or 500ms";

  test.each<[readonly string[], Environment, readonly string[]]>([
    [[], {}, []],
    [["--grace", "soon"], {}, [`--grace: ${duration}, got "soon"`]],
    [["--grace="], {}, [`--grace: ${duration}, got ""`]],
    [[], { EBB_GRACE: "-1s" }, [`EBB_GRACE: ${duration}, got "-1s"`]],
    [["--grace=x", "--grace=1s"], {}, [`--grace: ${duration}, got "x"`]],
    [["--quit-on", "maybe"], {}, ['--quit-on: expected always, success or never, got "maybe"']],
    [["--signal-group=perhaps"], {}, ['--signal-group: expected true or false, got "perhaps"']],
    [[], { NEVER_KILL_ISTIO: "yes" }, ['NEVER_KILL_ISTIO: expected true or false, got "yes"']],
    [["--signal-group=1", "--json=F"], {}, []],
    [
      ["--nonsense", "--detect-timeout", "x", "-q", "--quit-timeout=0"],
      { EBB_LOG_LEVEL: "loud" },
      [
        "unknown flag --nonsense",
        "unknown flag -q",
        '--quit-timeout: expected a duration above 0, such as 5s, got "0"',
        `--detect-timeout: ${duration}, got "x"`,
        'EBB_LOG_LEVEL: expected debug, info, warn or error, got "loud"',
      ],
    ],
  ])("%j %j", (args, env, expected) => {
    expect(problems(args, env)).toEqual([...expected]);
  });

  test("also the flags after an unknown flag's value", () => {
    const lines = problems(["--nonsense", "5", "--grace", "soon"]);
    expect(lines).toEqual(["unknown flag --nonsense", `--grace: ${duration}, got "soon"`]);
  });

  test("and a target without its scheme, with what was probably meant", () => {
    const given = { args: ["--ready", "db:1"], env: {} };
    expect(() => readCommandCall(pickOptions("ready"), given)).toThrow(/got "db:1"; did you mean tcp:\/\/db:1\?$/);
  });

  test("and a flag of another command is unknown", () => {
    expect(() => readCommandCall(pickOptions("quiet"), { args: ["--grace=5s"], env: {} })).toThrow(
      "unknown flag --grace",
    );
  });
});

test("no arguments and no environment end in anything but a call or a failure that names what is wrong", () => {
  const flag = fc.constantFrom(...Object.values(options).map((option) => option.flag));
  const variable = fc.constantFrom(
    ...Object.values(options).flatMap(({ variables }) => variables.map(({ name }) => name)),
  );
  const value = fc.oneof(fc.string(), fc.constantFrom("0", "5s", "true", "none", "http://h/", "TERM:0", "143", "a: b"));
  const arg = fc.oneof(
    flag.map((name) => `--${name}`),
    fc.tuple(flag, value).map(([name, value]) => `--${name}=${value}`),
    value,
  );
  fc.assert(
    fc.property(fc.array(arg), fc.dictionary(variable, value), (args, env) => {
      expect(problems(args, env)).not.toContain("");
    }),
    { numRuns: 300 },
  );
});
