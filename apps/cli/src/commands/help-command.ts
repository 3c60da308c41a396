import { configFields, ERRORS, type ErrorCode, START_ERRORS, type StartErrorKind } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { columnsText } from '../output/columns.ts'
import { unknownCommand } from './unknown-command.ts'

/** Prints help for a topic, a command such as `token create`, or the whole program. */
export function helpCommand({ out, cli }: Call, { words = [] }: { readonly words?: readonly string[] }): void {
  const help = (words.length === 1 ? topicText(words[0] ?? '') : undefined) ?? cli.helpOf(words)
  if (help === undefined) throw unknownCommand(words, [...cli.paths, ...Object.keys(TOPICS)])
  out.document({ help }, () => help)
}

function topicText(word: string): string | undefined {
  if (word.startsWith('errors/')) return errorText(word.slice('errors/'.length))
  return Object.hasOwn(TOPICS, word) ? TOPICS[word]?.() : undefined
}

/** Help text for a topic that an error report refers to in its `docs` field (`errors/<id>`). */
function errorText(id: string): string | undefined {
  if (Object.hasOwn(START_ERRORS, id))
    return `${id}: the server refuses to start\n${START_ERRORS[id as StartErrorKind]}\n`
  if (!Object.hasOwn(ERRORS, id)) return undefined
  const { status, retryable, summary } = ERRORS[id as ErrorCode]
  return `${id}: HTTP status ${status}${retryable ? '; the same request may succeed later' : ''}\n${summary}\n`
}

const PLAIN = { paint: (_: unknown, text: string) => text, width: undefined }

const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': () =>
    columnsText(
      Object.values(EXIT_CODES),
      {
        CODE: 'code',
        MEANING: 'meaning',
      },
      PLAIN,
    ),
  environment: () =>
    columnsText(
      [...CLIENT_VARIABLES, ...configFields.map(({ env, path }) => ({ name: env, note: `sets ${path}` }))],
      {
        VARIABLE: 'name',
        MEANING: 'note',
      },
      PLAIN,
    ),
  formatting: () => FORMATTING,
  config: () =>
    columnsText(
      configFields,
      {
        FIELD: 'path',
        DEFAULT: ({ default: value }) => (value === undefined ? 'none' : JSON.stringify(value)),
        MEANING: 'note',
      },
      PLAIN,
    ),
}

const CLIENT_VARIABLES = [
  { name: 'PERDURE_URL', note: 'server URL for commands, including the base path' },
  { name: 'PERDURE_TOKEN', note: 'access token for commands' },
  {
    name: 'PERDURE_CONTEXTS',
    note: "file with the saved contexts (default: perdure/contexts.json in the user's configuration folder)",
  },
  { name: 'NO_COLOR', note: 'disables colours' },
  { name: 'FORCE_COLOR', note: 'forces colours, even without a terminal or with NO_COLOR; 0 disables them' },
] as const

const FORMATTING = `stdout carries data; stderr carries notes, warnings and errors.

--json           write one JSON document to stdout, even on failure: { error, message, hint, … };
                 a stream writes one document per line
--json=a,b.c     keep only these fields, named by their paths; for a list, of each item
--format table   write text for people (default, except for event streams without a terminal)
--format ndjson  write one JSON document per line; a list writes one line per item
--quiet          print only errors to stderr
--verbose        print the stack trace of an error

Tables show relative times; JSON has RFC 3339 times in UTC.
On a terminal, columns that do not fit are cut with …; in a pipe, nothing is cut.
Colours appear only on a terminal. NO_COLOR and --no-color disable them; FORCE_COLOR forces them.
`
