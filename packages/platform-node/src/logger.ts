import type { LogFields, Logger } from '@perdure/ports'
import { describeError } from './error-description.ts'
import { formatLogLine } from './log-line.ts'
import { redactTokens } from './redact-tokens.ts'

export interface LogStream {
  write(text: string): unknown
}

export interface LoggerOptions {
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** One JSON object per line; else lines for people. */
  readonly json?: boolean
  /** Where lines go; stderr when missing, since stdout is for data. */
  readonly stream?: LogStream
}

const SEVERITY = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const

type Severity = 'debug' | 'info' | 'warn' | 'error'

/** Writes each line at once, so that none is lost when the process exits. Whatever looks like a token is cut out. */
export function createLogger({ level = 'info', json = true, stream = process.stderr }: LoggerOptions = {}): Logger {
  const format = json ? (line: string) => line : formatLogLine
  const write = (severity: Severity, message: string, fields: LogFields | undefined, own?: object): void => {
    if (SEVERITY[severity] < SEVERITY[level]) return
    const time = new Date().toISOString()
    const entry = { level: severity, time, ...withoutOwnKeys(fields), ...own, msg: message }
    stream.write(redactTokens(format(`${JSON.stringify(entry)}\n`)))
  }
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, error, fields) => write('error', message, fields, { err: describeError(error) }),
  }
}

const OWN_KEYS = new Set(['level', 'time', 'msg', 'err'])

/** A field with the name of a member of every line gets another name. */
function withoutOwnKeys(fields: LogFields = {}): LogFields {
  const names = Object.keys(fields)
  if (!names.some((name) => OWN_KEYS.has(name))) return fields
  return Object.fromEntries(names.map((name) => [OWN_KEYS.has(name) ? `${name}_` : name, fields[name]]))
}
