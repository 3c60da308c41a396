import type { LogFields, Logger } from '@perdure/ports'

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields | undefined
}

/** A logger that appends each line to a list. */
export function recordingLogger(lines: LogLine[]): Logger {
  return {
    debug: (message, fields) => lines.push({ level: 'debug', message, fields }),
    info: (message, fields) => lines.push({ level: 'info', message, fields }),
    warn: (message, fields) => lines.push({ level: 'warn', message, fields }),
    error: (message, _error, fields) => lines.push({ level: 'error', message, fields }),
  }
}
