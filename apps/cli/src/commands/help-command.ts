import { configFields, ERRORS, type ErrorCode, START_ERRORS, type StartErrorKind } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { columnsText } from '../output/columns.ts'
import { unknownCommand } from './unknown-command.ts'

/** Help on a topic, on a command such as `token create`, or on the program. */
export function helpCommand({ out, cli }: Call, { words = [] }: { readonly words?: readonly string[] }): void {
  const help = (words.length === 1 ? topicText(words[0] ?? '') : undefined) ?? cli.helpOf(words)
  if (help === undefined) throw unknownCommand(words, [...cli.paths, ...Object.keys(TOPICS)])
  out.document({ help }, () => help)
}

function topicText(word: string): string | undefined {
  if (word.startsWith('errors/')) return errorText(word.slice('errors/'.length))
  return Object.hasOwn(TOPICS, word) ? TOPICS[word]?.() : undefined
}

/** What stands behind the `docs` of an error report. */
function errorText(id: string): string | undefined {
  if (Object.hasOwn(START_ERRORS, id)) return `${id}: the start is refused\n${START_ERRORS[id as StartErrorKind]}\n`
  if (!Object.hasOwn(ERRORS, id)) return undefined
  const { status, retryable, summary } = ERRORS[id as ErrorCode]
  return `${id}: HTTP status ${status}${retryable ? '; the same request may succeed later' : ''}\n${summary}\n`
}

const PLAIN = { paint: (_: unknown, text: string) => text, width: undefined }

const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': () =>
    columnsText(
      Object.values(EXIT_CODES),
      [
        { head: 'CODE', cell: ({ code }) => code },
        { head: 'MEANING', cell: ({ meaning }) => meaning },
      ],
      PLAIN,
    ),
  environment: () =>
    columnsText(
      [...CLIENT_VARIABLES, ...configFields.map(({ env, path }) => ({ name: env, note: `sets ${path}` }))],
      [
        { head: 'VARIABLE', cell: ({ name }) => name },
        { head: 'MEANING', cell: ({ note }) => note },
      ],
      PLAIN,
    ),
  formatting: () => FORMATTING,
  config: () =>
    columnsText(
      configFields,
      [
        { head: 'FIELD', cell: ({ path }) => path },
        { head: 'DEFAULT', cell: ({ default: value }) => (value === undefined ? 'none' : JSON.stringify(value)) },
        { head: 'MEANING', cell: ({ note }) => note },
      ],
      PLAIN,
    ),
}

const CLIENT_VARIABLES = [
  { name: 'PERDURE_URL', note: 'address of the server that commands speak to, with its base path' },
  { name: 'PERDURE_TOKEN', note: 'access token that commands send' },
  {
    name: 'PERDURE_CONTEXTS',
    note: 'file of the contexts; perdure/contexts.json among the settings of the user without it',
  },
  { name: 'NO_COLOR', note: 'no colours' },
  { name: 'FORCE_COLOR', note: 'colours also where nobody looks, and in spite of NO_COLOR; 0 for none' },
] as const

const FORMATTING = `stdout is data, stderr is talk: notes, warnings, errors.

--json           one JSON document on stdout, also on failure: { error, message, hint, … }; one a line for streams
--json=a,b.c     keeps these members only, under their paths; of a list, of each item
--format table   for people (the default; streams of events are NDJSON where nobody looks)
--format ndjson  one document a line; lists give one line for each item
--quiet          no talk but errors
--verbose        the stack of errors

Times are relative in tables, and RFC 3339 in UTC in JSON. On a terminal, columns are cut with … to fit; in a pipe never.
Colours: only on a terminal; NO_COLOR and --no-color turn them off, FORCE_COLOR on.
`
