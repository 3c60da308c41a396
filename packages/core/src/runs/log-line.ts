import { type JsonText, type LogFields, toJsonText, utf8Length } from '@perdure/ports'
import type { LogLevel } from '@perdure/protocol'
import { jsonOrUndefined } from '../json/json-members.ts'
import { textOfThrown } from './thrown-value.ts'

/** A line that the code of a run wrote with `ctx.log`. */
export interface LogLine {
  readonly runId: string
  readonly level: LogLevel
  readonly message: unknown // a caller without types can pass any value
  readonly fields?: LogFields | undefined
}

/** How many log lines of a run are events. One more event then says that the limit is reached. */
export const MAX_LOG_LINES = 1_000
const MAX_BYTES = 8_192
const MARK = '… [truncated]'

export const LIMIT_LINE = {
  level: 'warn',
  message: `this run has more than ${MAX_LOG_LINES} log lines; only the log of the server contains the others`,
} as const satisfies Pick<LogLine, 'level' | 'message'>

/** The payload of `run.log`, at most 8 KiB. A longer message is truncated, and fields that are too long are left out. */
export function logPayload({ runId, level, message: given, fields }: LogLine): JsonText {
  const message = typeof given === 'string' ? given : textOfThrown(given)
  const whole = message.length > MAX_BYTES ? undefined : jsonOrUndefined({ runId, level, message, fields })
  if (whole !== undefined && utf8Length(whole) <= MAX_BYTES) return whole
  const fieldsText = jsonOrUndefined(fields)
  const kept = fieldsText !== undefined && utf8Length(fieldsText) <= MAX_BYTES / 2 ? fields : undefined
  let start = message.slice(0, MAX_BYTES)
  for (;;) {
    const payload = toJsonText({ runId, level, message: `${start}${MARK}`, fields: kept })
    if (utf8Length(payload) <= MAX_BYTES) return payload
    start = start.slice(0, Math.floor(start.length * 0.9))
  }
}
