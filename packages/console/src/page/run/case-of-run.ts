import type { Event, Run } from '../api/resources.ts'

/** A case of `perdure eval`, as `casesFromFiles` reads it. */
export interface KeptCase {
  readonly id: string
  readonly input: unknown
  readonly decisions?: Readonly<Record<string, boolean>>
  readonly expected?: string
}

/** The input of a run, the decisions that people made in it, and the text of its answer. */
export function caseOfRun(
  { id, input, result }: Pick<Run, 'id' | 'input' | 'result'>,
  events: readonly Event[],
): KeptCase {
  const decided = events.flatMap(decisionOf)
  const expected = textOf(result)
  return {
    ...{ id, input: input ?? null },
    ...(decided.length === 0 ? {} : { decisions: Object.fromEntries(decided) }),
    ...(expected === undefined ? {} : { expected }),
  }
}

function decisionOf({ type, payload }: Event): readonly (readonly [string, boolean])[] {
  if (type !== 'approval.resolved' || typeof payload !== 'object' || payload === null) return []
  const { name, toolName, decision } = payload as Readonly<Record<string, unknown>>
  const of = name ?? toolName
  return typeof of === 'string' ? [[of, decision === 'approved']] : []
}

function textOf(result: unknown): string | undefined {
  if (typeof result === 'string') return result
  const text = typeof result === 'object' && result !== null && 'text' in result ? result.text : undefined
  return typeof text === 'string' ? text : undefined
}
