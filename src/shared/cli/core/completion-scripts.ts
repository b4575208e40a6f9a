/**
 * The scripts that complete command lines in a shell: each asks `ebb __complete`, whose answer completion.ts describes.
 */
export const completionScripts = {
  /** For bash 4 or newer. Without bash-completion, it completes only programs and files in the child's command line. */
  bash: `# bash completion for ebb
_ebb() {
  local kind at current=\${COMP_WORDS[COMP_CWORD]}
  { read -r kind at; mapfile -t COMPREPLY; } \\
    < <("\${COMP_WORDS[0]/#~\\//$HOME/}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=("\${COMPREPLY[@]%%$'\\t'*}")
  case $kind in
    list) compopt -o nospace ;;
    files) __ebb_files ;;
    child)
      if declare -F _comp_command_offset >/dev/null; then _comp_command_offset "$at"
      elif declare -F _command_offset >/dev/null; then _command_offset "$at"
      elif ((COMP_CWORD == at)); then mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else __ebb_files; fi ;;
  esac
}
__ebb_files() {
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen -f -- "\${current#=}")
}
complete -F _ebb ebb
`,
  /** Either the file `_ebb` in $fpath, or sourced after compinit. */
  zsh: `#compdef ebb
_ebb() {
  local -a answer candidates
  answer=("\${(@f)$(\${~words[1]} __complete "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  candidates=("\${(@)\${(@)answer[2,-1]//:/\\\\:}/$'\\t'/:}")
  case $answer[1] in
    child*) shift \${answer[1]#child } words; ((CURRENT -= \${answer[1]#child })); _normal ;;
    files) compset -P '--*='; _files ;;
    list) _describe ebb candidates -S '' ;;
    words) _describe ebb candidates ;;
  esac
}
if [[ $funcstack[1] == _ebb ]]; then _ebb "$@"; else compdef _ebb ebb; fi
`,
  /** For fish 3 or newer. If the condition fails, fish proposes files. */
  fish: `# fish completion for ebb
function __ebb_complete
    set -l words (commandline -opc | string replace -r '^~/' "$HOME/")
    set -l current (commandline -ct)
    set -g __ebb_candidates
    type -q $words[1]; or return 0
    set __ebb_candidates ($words[1] __complete $words[2..] "$current" 2>/dev/null)
    set -l answer (string split ' ' -- $__ebb_candidates[1])
    set -e __ebb_candidates[1]
    if test "$answer[1]" = child
        set words (string escape -- $words[(math $answer[2] + 1)..])
        set __ebb_candidates (complete -C (string join ' ' -- $words "$current"))
    end
    test "$answer[1]" != files
end
complete -c ebb -n __ebb_complete -f -a '$__ebb_candidates'
`,
} as const;
