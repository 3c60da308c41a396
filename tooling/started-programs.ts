import { BASE_PROGRAMS, TOOLS } from './machine-tools.ts'

/** A call that starts a process, up to the end of its first argument. */
const START =
  /(?<![.\w])(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|fork|promisify\(execFile\))\(\s*(?<program>(?:'[^']*'|[\w.!]+)(?:\([^()]*\))?)/g

/** Words that other code has in the same places. */
const WORDS: ReadonlySet<string> = new Set(['PostgreSQL', 'an old Node.js', '/proc', 'ip', 'mount', 'script'])
const NAMES = Object.keys(TOOLS).filter((name) => !WORDS.has(name))

/** The name of a tool in front of its arguments: in a command line, in an option, or as the argument of a function. */
const NAMED = new RegExp(`(?:(?<call>[\\w.]+)\\(\\s*|\\[\\s*|command: )'(?<name>${NAMES.join('|')})'(?=,)`, 'g')
const LOOKUPS: ReadonlySet<string> = new Set(['toolPath', 'findTool', 'needsTool'])

/**
 * Returns the programs of the machine that a source starts by another way than the table of tools. `given` are the
 * expressions whose value comes from the table, or from the repository.
 */
export function startedWithoutTable(source: string, given: readonly string[] = []): readonly string[] {
  const isAllowed = (program: string) =>
    program === 'process.execPath' ||
    program.startsWith('toolPath(') ||
    BASE_PROGRAMS.some((name) => program === `'${name}'`) ||
    given.includes(program)
  const starts = source.includes("'node:child_process'") ? [...source.matchAll(START)] : []
  const started = starts.map(({ groups }) => groups?.program ?? '')
  const named = [...source.matchAll(NAMED)].filter(({ groups }) => !LOOKUPS.has(groups?.call ?? ''))
  return [...new Set([...started, ...named.map(([text]) => text)])].filter((program) => !isAllowed(program))
}
