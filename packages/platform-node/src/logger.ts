import type { LogFields, Logger } from '@berth/ports'
import { pino } from 'pino'
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

/** Writes each line at once, so that none is lost when the process exits. Whatever looks like a token is cut out. */
export function createLogger({ level = 'info', json = true, stream = process.stderr }: LoggerOptions = {}): Logger {
  const format = json ? (line: string) => line : formatLogLine
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void stream.write(redactTokens(format(line))) },
  )
  return {
    debug: (message, fields) => log.debug(withoutOwnKeys(fields), message),
    info: (message, fields) => log.info(withoutOwnKeys(fields), message),
    warn: (message, fields) => log.warn(withoutOwnKeys(fields), message),
    error: (message, error, fields) => log.error({ ...withoutOwnKeys(fields), err: describeError(error) }, message),
  }
}

const OWN_KEYS = new Set(['level', 'time', 'msg', 'err'])

/** pino would write a member twice when a field has the name of one of its own. */
function withoutOwnKeys(fields: LogFields = {}): LogFields {
  const names = Object.keys(fields)
  if (!names.some((name) => OWN_KEYS.has(name))) return fields
  return Object.fromEntries(names.map((name) => [OWN_KEYS.has(name) ? `${name}_` : name, fields[name]]))
}
