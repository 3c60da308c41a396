import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { strictObject } from '../plain-object.ts'

/** A hundred years. A longer timeout would never expire in practice, and its deadline might not be a valid date. */
const LONGEST_MS = 36_525 * 86_400_000

export const TimeoutMs = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LONGEST_MS))

export const Budget = documented(
  strictObject({
    tokens: member(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER))),
      'Input and output tokens together, at least 1. Default: no limit.',
    ),
    costUsd: member(
      v.optional(v.pipe(v.number(), v.gtValue(0))),
      'Cost in US dollars, more than 0. Default: no limit.',
    ),
    toolCalls: member(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))),
      'Number of tool calls, from 0. Default: no limit.',
    ),
    maxDuration: member(
      v.optional(TimeoutMs),
      'Milliseconds since acceptance or the start time, suspension included. Default: no limit.',
    ),
  }),
  'Limits on what a run may use. A run that reaches a limit ends with `budget-exhausted`.',
  { tokens: 20_000, costUsd: 0.5 },
)

export const RunBudget = documented(
  v.object({
    tokens: member(Budget.entries.tokens, 'Input and output tokens together. Absent when there is no limit.'),
    costUsd: member(Budget.entries.costUsd, 'Cost in US dollars. Absent when there is no limit.'),
    toolCalls: member(Budget.entries.toolCalls, 'Number of tool calls. Absent when there is no limit.'),
    maxDuration: member(
      Budget.entries.maxDuration,
      'Milliseconds since acceptance or the start time, suspension included. Absent when there is no limit.',
    ),
    onExceeded: member(
      v.optional(v.picklist(['fail', 'ask'])),
      'At the limits of tokens, costs and tool calls, `fail` ends the run, and `ask` lets it wait for an approval to continue. Absent when it ends the run.',
    ),
  }),
  'The budget of a run, as its registration and its request have set it.',
  { costUsd: 0.5, onExceeded: 'ask' },
)
