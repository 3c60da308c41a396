import { stripVTControlCharacters } from 'node:util'
import type { ErrorDescription } from './error-description.ts'

export type LogEntry = Readonly<Record<string, unknown>> & {
  readonly time: string
  readonly level: string
  readonly msg: string
}

/** Formats a log entry for people: time, level, message, `key=value` fields, then the stack of an error. */
export function formatLogLine(entry: LogEntry): string {
  const { time, level, msg, err, ...fields } = entry
  const pairs = Object.entries(fields).map(([name, value]) => pairText(name, value))
  const head = printable(`${time.slice(11, 23)} ${level.padEnd(5)} ${msg.replaceAll('\n', ' ')}${pairs.join('')}`)
  return `${[head, ...errorLines(err as ErrorDescription | undefined)].join('\n')}\n`
}

function errorLines(error: ErrorDescription | undefined): readonly string[] {
  if (error === undefined) return []
  const own = (error.stack ?? `${error.name}: ${error.message}`).split('\n').map((line) => `  ${printable(line)}`)
  const hint = error.hint === undefined ? [] : [`  hint: ${printable(error.hint)}`]
  return [...own, ...hint, ...(error.causes ?? []).flatMap((cause) => ['  caused by:', ...errorLines(cause)])]
}

/** Omits a value that JSON omits. */
const pairText = (name: string, value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) as string | undefined)
  if (text === undefined) return ''
  return ` ${name}=${/^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text)}`
}

/** Prevents a message from forging a second line or controlling the terminal. */
const printable = (text: string): string =>
  /\p{Cc}/u.test(text) ? stripVTControlCharacters(text).replaceAll(/\p{Cc}/gu, '') : text
