import { Budget, RunBudget } from '../resources/runs.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

export const budgetSchemas = {
  Budget: namedObject(Budget, {
    description: 'Limits on what a run may use. A run that reaches a limit ends with `budget-exhausted`.',
    members: {
      tokens: 'Input and output tokens together, at least 1. Default: no limit.',
      costUsd: 'Cost in US dollars, more than 0. Default: no limit.',
      toolCalls: 'Number of tool calls, from 0. Default: no limit.',
      maxDuration: 'Milliseconds since acceptance or the start time, suspension included. Default: no limit.',
    },
    example: { tokens: 20_000, costUsd: 0.5 },
  }),
  RunBudget: namedObject(RunBudget, {
    description: 'The budget of a run, as its registration and its request have set it.',
    members: {
      tokens: 'Input and output tokens together. Absent when there is no limit.',
      costUsd: 'Cost in US dollars. Absent when there is no limit.',
      toolCalls: 'Number of tool calls. Absent when there is no limit.',
      maxDuration:
        'Milliseconds since acceptance or the start time, suspension included. Absent when there is no limit.',
      onExceeded:
        'At the limits of tokens, costs and tool calls, `fail` ends the run, and `ask` lets it wait for an approval to continue. Absent when it ends the run.',
    },
    example: { costUsd: 0.5, onExceeded: 'ask' },
  }),
} as const satisfies NamedSchemas
