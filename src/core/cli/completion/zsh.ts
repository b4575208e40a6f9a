import type { AboutFlag, Choice, CompletedCommand, CompletedFlag } from "./spec.ts";

/** Returns the completion script for zsh, which is either the file `_ebb` in $fpath or sourced after compinit. */
export function zshScript(commands: readonly CompletedCommand[], about: readonly AboutFlag[]): string {
  return `#compdef ebb
# zsh completion for ebb, as \`ebb completion zsh\` prints it

_ebb() {
  local command=run
  local -a all # not commands, which is zsh's own table of programs
  all=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join("\n")}
  )
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _describe -t commands 'command of ebb' all
    return
  fi
  if ((CURRENT == 2)); then
    compadd -- ${about.map(({ flag }) => `--${flag}`).join(" ")}
  fi
  case $words[2] in
${about.map(after).join("\n")}
  esac
  local -i dashes=\${words[(i)--]}
  if ((dashes < CURRENT)); then # the child's command line
    shift $dashes words
    ((CURRENT -= dashes))
    _normal
    return
  fi
  if ((\${all[(I)$words[2]:*]})); then
    command=$words[2]
    shift words
    ((CURRENT--))
  fi
  case $command in
${commands.map(describe).join("\n")}
  esac
}

if [[ $funcstack[1] == _ebb ]]; then
  _ebb "$@"
else
  compdef _ebb ebb
fi
`;
}

function after({ flag, followers }: AboutFlag): string {
  return `    --${flag}) ((CURRENT == 2)) || { compadd -- ${followers.map((each) => `--${each}`).join(" ")}; return } ;;`;
}

function describe({ name, flags, operands }: CompletedCommand): string {
  const places = name === "run" ? ["-A '-*'", "'*::: : _normal'"] : [quoted(`*:operand:${actionOf(operands)}`)];
  const lines = [...places, ...flags.map(describeFlag), quoted("(-)--help[tell all of this command]")];
  return `    ${name})\n      _arguments -S ${lines.join(" \\\n        ")} ;;`;
}

function describeFlag({ flag, help, value, choice, repeatable }: CompletedFlag): string {
  const text = `[${help.replaceAll(/[[\]\\]/g, "\\$&")}]`;
  const takes = value === undefined ? "" : `:${value.replaceAll(":", "\\:")}:${actionOf(choice)}`;
  return quoted(`${repeatable ? "*" : ""}--${flag}${value === undefined ? "" : "="}${text}${takes}`);
}

function actionOf(choice: Choice): string {
  if (choice.kind === "files") return "_files";
  if (choice.kind === "anything") return " ";
  return choice.kind === "words" ? `(${choice.words.join(" ")})` : `_values -s , NAME ${choice.words.join(" ")}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
