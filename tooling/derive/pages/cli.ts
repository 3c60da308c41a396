import { COMMANDS, type CommandSpec, EXIT_CODES, type FlagSpec, flagsOf } from '@perdure/cli'
import { code, page, table } from '../markdown.ts'

export const cliPage = (): string =>
  page(
    'Command line',
    'The commands of `perdure` with their flags, exit codes and examples. Commands write data to stdout and messages to stderr. With `--json` a command writes one JSON document, even when it ' +
      'fails: `{ error, message, hint?, at?, docs?, requestId? }`; a streaming command writes one document per line. `perdure schema <command>` prints the JSON ' +
      'Schema of the document.',
    '## Exit codes',
    'Every command can exit with 0, 1, 2 or 130. Other exit codes are listed with the command.',
    table(
      ['Code', 'Meaning'],
      Object.values(EXIT_CODES).map((exit) => [String(exit.code), exit.meaning]),
    ),
    '## Flags of all commands',
    flagTable(flagsOf({ target: 'none' })),
    '## Flags of commands that call a server',
    flagTable(own('server')),
    '## Flags of commands that use the local configuration and storage',
    flagTable(own('storage')),
    '## Commands',
    ...COMMANDS.map(commandText),
  )

const own = (target: 'server' | 'storage'): readonly FlagSpec[] => {
  const all = flagsOf({ target: 'none' }).map(({ name }) => name)
  return flagsOf({ target }).filter(({ name }) => !all.includes(name))
}

const TARGETS = {
  server: 'Calls a running server.',
  storage: 'Uses the local configuration, secrets and database.',
  none: '',
} as const

function commandText({
  path,
  summary,
  target,
  arguments: given = [],
  flags = [],
  examples,
  exits = [],
}: CommandSpec): string {
  const words = given.map(({ name, optional, variadic }) => {
    const text = variadic ? `${name}...` : name
    // Without the backslash, a reader of the page would not see it: it would be HTML.
    return optional ? `[${text}]` : `\\<${text}>`
  })
  const codes = exits.map((exit) => String(EXIT_CODES[exit].code)).join(', ')
  return [
    `### ${['perdure', path, ...words].join(' ')}`,
    [sentence(summary), TARGETS[target], codes === '' ? '' : `Other exit codes: ${codes}.`]
      .filter((text) => text !== '')
      .join(' '),
    ...(given.length === 0 ? [] : [given.map(({ name, note }) => `- ${code(name)}: ${note}`).join('\n')]),
    ...(flags.length === 0 ? [] : [flagTable(flags)]),
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
  ].join('\n\n')
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const flagTable = (flags: readonly FlagSpec[]): string =>
  table(['Flag', 'Meaning', 'Values', 'Default'], flags.map(toRow))

const toRow = ({ name, short, type, value, note, choices, default: fallback, required }: FlagSpec) => [
  code(`${short === undefined ? '' : `-${short}, `}--${name}${type === 'boolean' ? '' : ` <${value ?? name}>`}`),
  required ? `${note} (required)` : note,
  choices === undefined ? '' : choices.map(code).join(', '),
  fallback === undefined ? '' : code(String(fallback)),
]
