import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export const LogLevelName = documented(v.picklist(LOG_LEVELS), 'Severity of a log line, in increasing order.', 'info')

const LogEntries = {
  level: member(LogLevelName, 'Severity of the line.'),
  message: member(v.string(), 'Text of the line.'),
  fields: member(
    v.optional(v.record(v.string(), v.unknown())),
    'Structured data of the line. Absent when the line has none.',
  ),
}

export const RunLogLine = documented(
  v.object({
    eventId: member(v.string(), 'Id of the event that carries the line.'),
    at: member(Timestamp, 'When the line was written.'),
    ...LogEntries,
  }),
  'A line that the code of a run wrote with `ctx.log`.',
  {
    eventId: '8c1f3a.118',
    at: '2026-03-02T09:15:01.120Z',
    level: 'info',
    message: 'parcel found',
    fields: { parcel: 'PX-204' },
  },
)
export const RunLogEvent = v.object({ runId: v.string(), ...LogEntries })
