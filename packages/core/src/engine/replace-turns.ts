import { EVERY_ROW, perdureError, type RunRecord, type RunStore, type Write } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { eachRun } from '../runs/each-run.ts'

/** What a new run withdraws from the conversation of its session. */
export interface Replacement {
  readonly writes: readonly Write[]
  /** The active runs among them, which are aborted once the new run is stored. */
  readonly active: readonly string[]
}

interface Interrupting {
  readonly toInterrupt: readonly string[]
}

/** The new run interrupts the active runs that it withdraws, too. */
export const withReplaced = <Claimed extends Interrupting>(claimed: Claimed, { active }: Replacement): Claimed => ({
  ...claimed,
  toInterrupt: [...new Set([...claimed.toInterrupt, ...active])],
})

const NOTHING: Replacement = { writes: [], active: [] }

/** @throws PerdureError `validation-failed` unless `replaces` is a turn of the session of the new run */
export async function planReplacement(
  runs: RunStore,
  run: RunRecord,
  replaces: string | undefined,
): Promise<Replacement> {
  if (replaces === undefined) return NOTHING
  const { sessionId } = run
  const first = sessionId === undefined ? undefined : await runs.find(replaces, EVERY_ROW)
  if (sessionId === undefined || first?.sessionId !== sessionId || first.parentRunId !== undefined) {
    throw perdureError('validation-failed', {
      message: `body.replaces: the session has no run ${replaces} that a client or a trigger has started`,
      hint: 'name a run of the session that GET /sessions/:sessionId/runs lists, and send sessionId',
    })
  }
  const active: string[] = []
  const filter = { sessionId, isTurn: true, since: first.createdAt, statuses: ACTIVE_RUN_STATUSES } as const
  for await (const { id, createdAt } of eachRun(runs, filter, { content: [] })) {
    if (createdAt > first.createdAt || id >= first.id) active.push(id)
  }
  return { writes: [{ type: 'run.withdraw', sessionId, from: first.id, by: run.id }], active }
}
