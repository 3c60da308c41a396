import { stripVTControlCharacters } from 'node:util'
import type { ErrorDescription } from './error-description.ts'

type Entry = Readonly<Record<string, unknown>> & { readonly time: string; readonly level: string; readonly msg: string }

/** Formats a JSON log line for a terminal: time, level, message, `key=value` fields, then the stack of an error. */
export function formatLogLine(json: string): string {
  const { time, level, msg, err, ...fields } = JSON.parse(json) as Entry
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`)
  const head = printable(`${time.slice(11, 23)} ${level.padEnd(5)} ${msg.replaceAll('\n', ' ')}${pairs.join('')}`)
  return `${[head, ...errorLines(err as ErrorDescription | undefined)].join('\n')}\n`
}

function errorLines(error: ErrorDescription | undefined): readonly string[] {
  if (error === undefined) return []
  const own = (error.stack ?? `${error.name}: ${error.message}`).split('\n').map((line) => `  ${printable(line)}`)
  const hint = error.hint === undefined ? [] : [`  hint: ${printable(error.hint)}`]
  return [...own, ...hint, ...(error.causes ?? []).flatMap((cause) => ['  caused by:', ...errorLines(cause)])]
}

const valueText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text)
}

/** Prevents a message from forging a second line or controlling the terminal. */
const printable = (text: string): string => stripVTControlCharacters(text).replaceAll(/\p{Cc}/gu, '')
