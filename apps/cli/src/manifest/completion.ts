import type { Shell } from '../command-line.ts'
import type { CommandSpec } from './command-spec.ts'
import { flagsOf } from './shared-flags.ts'

/** The words and flags that can follow `words`. */
interface Completion {
  readonly words: string // such as `runs`; empty at the start
  readonly next: readonly string[]
}

/** A completion script for the shell. It is static: it knows the commands of this release and makes no requests. */
export const completionScript = (shell: Shell, commands: readonly CommandSpec[]): string =>
  SCRIPTS[shell](completionsOf(commands))

function completionsOf(commands: readonly CommandSpec[]): readonly Completion[] {
  const prefixes = new Set(commands.flatMap(({ path }) => prefixesOf(path.split(' '))))
  const groups = [...prefixes].map((words) => {
    const depth = words === '' ? 0 : words.split(' ').length
    const below = commands.filter(({ path }) => words === '' || path.startsWith(`${words} `))
    return { words, next: [...new Set(below.map(({ path }) => path.split(' ')[depth] ?? ''))] }
  })
  const leaves = commands.map((command) => ({
    words: command.path,
    next: [...flagsOf(command).map(({ name }) => `--${name}`), '--help'],
  }))
  return [...groups, ...leaves]
}

const prefixesOf = (words: readonly string[]): readonly string[] => words.map((_, at) => words.slice(0, at).join(' '))

const SCRIPTS: Readonly<Record<Shell, (completions: readonly Completion[]) => string>> = {
  bash: (completions) => `_perdure() {
  local words="" word candidates
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) _perdure_at "\${words:+$words }$word" >/dev/null && words="\${words:+$words }$word" ;; esac
  done
  candidates=$(_perdure_at "$words")
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}")
}
_perdure_at() {
  case "$1" in
${caseLines(completions)}
    *) return 1 ;;
  esac
}
complete -o default -F _perdure perdure
`,
  zsh: (completions) => `#compdef perdure
_perdure_at() {
  case "$1" in
${caseLines(completions)}
    *) return 1 ;;
  esac
}
_perdure() {
  local at="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) _perdure_at "\${at:+$at }$word" >/dev/null && at="\${at:+$at }$word" ;; esac
  done
  compadd -- \${=$(_perdure_at "$at")}
}
compdef _perdure perdure
`,
  fish: (completions) => `function __perdure_at
  set -l words
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; or set words $words $word
  end
  test "$words" = "$argv"; or string match -q -- "$argv *" "$words"
end
complete -c perdure -f
${completions
  .map(
    ({ words, next }) =>
      `complete -c perdure -n '${words === '' ? 'test (count (commandline -opc)) -eq 1' : `__perdure_at ${words}`}' -a '${next.join(' ')}'`,
  )
  .join('\n')}
`,
  pwsh: (completions) => `Register-ArgumentCompleter -Native -CommandName perdure -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $completions = @{
${completions.map(({ words, next }) => `    '${words}' = '${next.join(' ')}'`).join('\n')}
  }
  $at = ''
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    $longer = if ($at -eq '') { "$element" } else { "$at $element" }
    if ($completions.ContainsKey($longer)) { $at = $longer }
  }
  $completions[$at] -split ' ' | Where-Object { $_ -like "$wordToComplete*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`,
}

const caseLines = (completions: readonly Completion[]): string =>
  completions.map(({ words, next }) => `    "${words}") echo "${next.join(' ')}" ;;`).join('\n')
