import process from 'node:process'
import type { Logger } from '@perdure/ports'
import { type LogDestination, openLogDestination, type ProcessStream } from './log-destination.ts'
import { createLogger, type LoggerOptions } from './logger.ts'

export interface ServerLogOptions extends Omit<LoggerOptions, 'stream'> {
  /** Destination of the lines; by default stderr. */
  readonly stream?: ProcessStream
}

/** The logger of a server: a slow or blocked stream does not delay the caller (see `LogDestination`). */
export interface ServerLog extends Pick<LogDestination, 'droppedLines' | 'flush' | 'flushNow'> {
  readonly logger: Logger
}

export function openServerLog({ level, json = true, stream = process.stderr }: ServerLogOptions): ServerLog {
  const destination = openLogDestination(stream, { droppedLine: (count) => droppedLine(json, count) })
  const { droppedLines, flush, flushNow } = destination
  return { droppedLines, flush, flushNow, logger: createLogger({ level, json, stream: destination }) }
}

/** Adapts a logger that was passed in and handles its own buffering. */
export const unbufferedLog = (logger: Logger): ServerLog => ({
  logger,
  droppedLines: () => 0,
  flush: async () => undefined,
  flushNow: () => undefined,
})

/** Logged at any configured level: with `log.level: 'error'`, the dropped lines may be errors. */
function droppedLine(json: boolean, count: number): string {
  let text = ''
  const stream = { write: (line: string) => (text = line) }
  createLogger({ json, stream }).warn('log lines were dropped because the log could not be written', { lines: count })
  return text
}
