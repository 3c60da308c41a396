import { EVERY_ROW, type ListedRun, type RunRecord, type RunStatus, type RunStore } from '@perdure/ports'
import { eachRun } from '../runs/each-run.ts'
import { isBefore, isTurn } from '../runs/turn.ts'
import type { RunTarget } from '../targets/run-target.ts'
import { agentBusy } from './lanes/admission.ts'

type Later = Pick<RunRecord, 'id' | 'sessionId' | 'createdAt' | 'parentRunId' | 'targetId'>

/** Whether runs of the target wait for the suspended runs ahead of them. */
export const waitsForTurns = (
  { concurrency, onBusyWaiting }: RunTarget,
  run: Pick<RunRecord, 'kind' | 'sessionId' | 'parentRunId'>,
): boolean => concurrency === 'session' && onBusyWaiting !== 'start' && isTurn(run)

/** The suspended turns of the session that are older than the run, oldest first. */
export async function earlierTurns(
  runs: Pick<RunStore, 'list'>,
  { id, sessionId, createdAt, targetId }: Later,
): Promise<readonly ListedRun<never>[]> {
  const until = (createdAt + 1) as typeof createdAt
  const filter = { kind: 'agent', targetId, sessionId, isTurn: true, statuses: ['suspended'], until } as const
  const { items } = await runs.list(filter, { limit: MAX_TURNS, order: 'asc', content: [] }, EVERY_ROW)
  return items.filter((turn) => isBefore(turn, { id, createdAt }))
}

interface NewTurn {
  readonly target: RunTarget
  readonly run: RunRecord
  /** The ids of the turns that the run replaces. */
  readonly replaced: readonly string[]
}

/**
 * The suspended turns of the session for which the run waits.
 *
 * @throws PerdureError `agent-busy` when there is one, and the run does not wait
 */
export async function turnsAhead(runs: Pick<RunStore, 'list'>, { target, run, replaced }: NewTurn) {
  if (!waitsForTurns(target, run)) return []
  const turns = (await earlierTurns(runs, run)).filter(({ id }) => !replaced.includes(id))
  if (turns.length > 0 && target.onBusy === 'reject') throw agentBusy()
  return turns
}

/**
 * The turns of the session with one of these statuses that have begun. One that a crash has cut off, or whose wait has
 * ended, is queued until it executes again.
 */
export async function begunTurns(
  runs: RunStore,
  { sessionId, targetId }: Pick<RunRecord, 'sessionId' | 'targetId'>,
  statuses: readonly RunStatus[],
): Promise<readonly string[]> {
  const filter = { kind: 'agent', targetId, sessionId, isTurn: true, statuses } as const
  const ids: string[] = []
  for await (const { id, execution } of eachRun(runs, filter, { content: [] })) if (execution > 0) ids.push(id)
  return ids
}

/** The turns that an interrupting message aborts while they wait: for a decision, or for a slot to execute again. */
export async function turnsToInterrupt(
  runs: RunStore,
  { target, run, replaced }: NewTurn,
  waiting: readonly { readonly id: string }[],
): Promise<readonly string[]> {
  if (target.onBusy !== 'interrupt') return []
  const isMessage = target.concurrency === 'session' && isTurn(run)
  const queued = isMessage ? await begunTurns(runs, run, ['queued']) : []
  return [...waiting.map(({ id }) => id), ...queued.filter((id) => !replaced.includes(id))]
}

/** At most one turn of a session is suspended unless its registration has changed. */
const MAX_TURNS = 20
