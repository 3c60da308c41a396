import * as v from 'valibot'
import { field, optionalField, section } from './section.ts'
import { bytes, count, milliseconds, share } from './values.ts'

export const RunsSection = section({
  concurrency: field(count(1), 64, { note: 'Maximum number of runs that this process executes at once.' }),
  maxQueued: field(count(0), 10_000, {
    note: 'Maximum number of queued runs; when the queue is full, new runs get 503 queue-full. A subject with fewer than a sixteenth of this number may exceed it.',
  }),
  maxShare: field(share, 0.5, {
    note: 'Part of all slots that the runs of one subject may hold while runs of other subjects wait; 1 turns the limit off.',
  }),
  perSubject: section({
    maxActive: optionalField(count(1), {
      note: 'Maximum number of queued and running runs of one subject; further starts get 429 quota-exceeded. Suspended runs and child runs do not count. Unlimited when not set.',
    }),
    maxPerDay: optionalField(count(1), {
      note: 'Maximum number of runs that one subject starts per day (UTC), without child runs; unlimited when not set.',
    }),
    maxUsdCentsPerDay: optionalField(count(1), {
      note: 'US cents that the runs of one subject may cost per day (UTC); a run counts on the day on which it was created. A started run is not stopped: limit it with a budget. Unlimited when not set.',
    }),
  }),
  maxResultBytes: field(bytes, 1_048_576, {
    note: 'Maximum size of the input or the result of a run, in bytes. A longer result of a step or a tool is stored as a file.',
  }),
  maxEventBytes: field(bytes, 262_144, { note: 'Maximum size of an event payload, in bytes.' }),
  abortGraceMs: field(milliseconds(0), 5_000, {
    note: 'How long an aborted run may hold its slot before it is detached, in milliseconds.',
  }),
  captureLogs: field(v.picklist(['ctx', 'off']), 'ctx', {
    note: 'ctx: the lines that code writes with ctx.log are also stored as events of its run; off: only the log of the server contains them.',
  }),
  maxBlockMs: optionalField(milliseconds(1_000), {
    note: 'How long code may block the event loop before the process exits with code 70, in milliseconds; never when not set.',
  }),
})
