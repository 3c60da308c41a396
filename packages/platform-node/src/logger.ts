import type { LogFields, Logger } from '@perdure/ports'
import { describeError } from './error-description.ts'
import { formatLogLine } from './log-line.ts'
import { redactTokens } from './redact-tokens.ts'

export interface LogStream {
  write(text: string): unknown
}

export interface LoggerOptions {
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Writes one JSON object per line (default); otherwise human-readable lines. */
  readonly json?: boolean
  /** Destination of the lines; by default stderr, because stdout is for data. */
  readonly stream?: LogStream
}

const SEVERITY = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const

type Severity = 'debug' | 'info' | 'warn' | 'error'

/**
 * Writes each line immediately, so that no line is lost when the process exits. Redacts everything that looks like a
 * token.
 */
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

/** Renames fields that would overwrite a member of every line, such as its time or level. */
function withoutOwnKeys(fields: LogFields = {}): LogFields {
  const names = Object.keys(fields)
  if (!names.some((name) => OWN_KEYS.has(name))) return fields
  return Object.fromEntries(names.map((name) => [OWN_KEYS.has(name) ? `${name}_` : name, fields[name]]))
}
