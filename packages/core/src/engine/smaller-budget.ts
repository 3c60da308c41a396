import type { RunBudget } from '@perdure/ports'

/** Takes the smaller value of each limit. `most` decides what happens at the limits. */
export function smallerBudget(asked: RunBudget | undefined, most: RunBudget | undefined): RunBudget | undefined {
  if (asked === undefined || most === undefined) return asked ?? most
  return {
    tokens: smaller(asked.tokens, most.tokens),
    costUsd: smaller(asked.costUsd, most.costUsd),
    toolCalls: smaller(asked.toolCalls, most.toolCalls),
    maxDuration: smaller(asked.maxDuration, most.maxDuration),
    ...(most.onExceeded === undefined ? {} : { onExceeded: most.onExceeded }),
  }
}

/** The smaller of two limits. A missing limit does not count. */
export const smaller = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
