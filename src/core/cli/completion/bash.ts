import type { AboutFlag, Choice, CompletedCommand } from "./spec.ts";

type Arm = readonly [text: string, pattern: string];

/**
 * Returns the completion script for bash 4 or newer. It completes the child's own command line only if bash-completion
 * is installed; otherwise programs and files.
 */
export function bashScript(commands: readonly CompletedCommand[], about: readonly AboutFlag[]): string {
  return `# bash completion for ebb, as \`ebb completion bash\` prints it

# What stands after a flag of a command: anything, files, words, or a list of words; nothing after a switch.
__ebb_value() {
  case "$1 $2" in
${arms(commands.flatMap(valuesOf))}
  esac
}

__ebb_operand() {
  case $1 in
${arms(commands.map(({ name, operands }) => [textOf(operands), name]))}
  esac
}

__ebb_flags() {
  case $1 in
${arms(commands.map(({ name, flags }) => [[...flags.map(({ flag }) => `--${flag}`), "--help"].join(" "), name]))}
  esac
}
${functions(commands.map(({ name }) => name).join(" "), about)}`;
}

function valuesOf({ name, flags }: CompletedCommand): readonly Arm[] {
  const withValue = flags.filter(({ value }) => value !== undefined);
  return withValue.map(({ flag, choice }) => [textOf(choice), `${name} --${flag}`]);
}

/** Returns the arms of a shell's `case`, one for each text, with all patterns that give it. */
function arms(all: readonly Arm[]): string {
  const texts = [...new Set(all.map(([text]) => text))];
  const patternsOf = (text: string) => all.filter((arm) => arm[0] === text).map(([, pattern]) => `'${pattern}'`);
  return texts.map((text) => `    ${patternsOf(text).join(" | ")})\n      echo '${text}' ;;`).join("\n");
}

function textOf(choice: Choice): string {
  if (choice.kind === "anything" || choice.kind === "files") return choice.kind;
  return `${choice.kind} ${choice.words.join(" ")}`;
}

function functions(names: string, about: readonly AboutFlag[]): string {
  const aboutNames = about.map(({ flag }) => `--${flag}`).join(" ");
  const after = about.map(
    ({ flag, followers }): Arm => [["words", ...followers.map((each) => `--${each}`)].join(" "), `--${flag}`],
  );
  return `
__ebb_reply() {
  local words=\${1#* } prefix=
  case $1 in
    files)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    list*)
      compopt -o nospace
      prefix=\${2%"\${2##*,}"}
      mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "\${2##*,}") ;;
    words*)
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2") ;;
  esac
}

# The child's command line, which starts with this word.
__ebb_child() {
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    __ebb_reply files "$cur"
  fi
}

__ebb_after() {
  case $1 in
${arms(after)}
  esac
}

__ebb() {
  local command=run flag= at word about=
  local cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    about='${aboutNames}'
  elif [[ -n $(__ebb_after "\${COMP_WORDS[1]}") ]]; then
    __ebb_reply "$(__ebb_after "\${COMP_WORDS[1]}")" "$cur"
    return
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ $word == = ]]; then # --flag=value is three words
      ((at + 1 == COMP_CWORD)) || flag=
      ((at++))
    elif [[ -n $flag ]]; then
      flag=
    elif [[ $word == -- ]]; then
      __ebb_child $((at + 1))
      return
    elif [[ $word == -* ]]; then
      [[ \${COMP_WORDS[at + 1]} != = && -z $(__ebb_value "$command" "$word") ]] || flag=$word
    elif ((at == 1)) && [[ " ${names} " == *" $word "* ]]; then
      command=$word
    elif [[ $command == run ]]; then
      __ebb_child "$at"
      return
    fi
  done
  if [[ -n $flag ]]; then
    __ebb_reply "$(__ebb_value "$command" "$flag")" "\${cur#=}"
  elif [[ $cur == -* ]]; then
    __ebb_reply "words $(__ebb_flags "$command") $about" "$cur"
  elif ((COMP_CWORD == 1)); then
    __ebb_reply 'words ${names}' "$cur"
  elif [[ $command == run ]]; then
    __ebb_child "$COMP_CWORD"
  else
    __ebb_reply "$(__ebb_operand "$command")" "$cur"
  fi
}

complete -F __ebb ebb
`;
}
