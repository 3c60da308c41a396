import type { CommitOutcome } from '@perdure/ports'
import { toStored } from '../host/append-events.ts'
import { rollBack } from '../host/commit-alone.ts'
import { HOLD_NODE } from '../host/node.ts'
import { BEGIN, COMMIT, isCommitted, ROLLBACK, requireNode, unansweredCommit } from '../host/transaction.ts'
import type { Turn } from '../host/turn.ts'
import type { WriteJob } from '../host/write-job.ts'
import { addChanges, noChanges } from './changes.ts'
import { evaluate, type Verdict } from './evaluate.ts'
import { type GroupState, look } from './look.ts'
import { isSetWrite } from './plan-groups.ts'
import { sendChanges, sendEvents } from './write-changes.ts'

/** The outcome of each commit, or the commits that need a transaction of their own: then nothing was written. */
export type GroupResult =
  | { readonly outcomes: readonly CommitOutcome[] }
  | { readonly outcomes?: undefined; readonly alone: readonly number[] }

/**
 * Commits the jobs in one transaction and two round trips: the first locks and reads everything that the jobs depend
 * on, the second writes and commits.
 *
 * @throws UnansweredCommit; any other error means that nothing was written.
 */
export async function commitGroup(turn: Turn, jobs: readonly WriteJob[]): Promise<GroupResult> {
  const { session } = turn
  try {
    const commits = jobs.map(({ writes }) => writes.filter(isSetWrite))
    const state = await lookAndLock(turn, commits.flat())
    const verdicts = evaluate(commits, state)
    const alone = verdicts.flatMap(({ is }, index) => (is === 'alone' ? [index] : []))
    const isWritten = alone.length === 0 && verdicts.some(({ is }) => is === 'applied')
    if (isWritten) return await write(turn, verdicts)
    await session.execute(ROLLBACK)
    return alone.length > 0 ? { alone } : { outcomes: outcomesOf(verdicts, null) }
  } catch (error) {
    await rollBack(session)
    throw error
  }
}

async function lookAndLock({ session, db, marker }: Turn, writes: Parameters<typeof look>[1]): Promise<GroupState> {
  const sent = session.together(() => [session.execute(BEGIN), db.get(HOLD_NODE, marker), look(db, writes)] as const)
  const [begun, held, looked] = await Promise.allSettled(sent)
  const failed = [begun, held, looked].find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  if (failed !== undefined) throw failed.reason
  requireNode((held as PromiseFulfilledResult<object | undefined>).value)
  return (looked as PromiseFulfilledResult<GroupState>).value
}

async function write(turn: Turn, verdicts: readonly Verdict[]): Promise<GroupResult> {
  const { session, db, marker, knownPosition } = turn
  const changes = noChanges()
  for (const verdict of verdicts) if (verdict.is === 'applied') addChanges(changes, verdict.changes)
  const sent = session.together(() => ({
    rows: Promise.allSettled(sendChanges(db, changes)),
    ends: Promise.allSettled([
      sendEvents(db, changes.events, { ...marker, knownPosition }),
      session.execute(COMMIT),
    ] as const),
  }))
  const [first, commit] = await sent.ends
  const written = [...(await sent.rows), first]
  const resultOf = (firstPosition: number | null) => ({ outcomes: outcomesOf(verdicts, firstPosition) })
  if (isCommitted(commit) && first.status === 'fulfilled') return resultOf(first.value)
  const failed = written.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  throw commit.status === 'fulfilled' && failed !== undefined
    ? failed.reason
    : unansweredCommit(commit, ({ first_position }) => resultOf(first_position))
}

/** The events of a group follow each other, in the order of its commits. */
function outcomesOf(verdicts: readonly Verdict[], firstPosition: number | null): readonly CommitOutcome[] {
  let position = firstPosition ?? 0
  return verdicts.map((verdict): CommitOutcome => {
    if (verdict.is === 'refused') return { committed: false, index: verdict.index, conflict: verdict.conflict }
    if (verdict.is === 'alone') throw new Error('a group was committed although one of its commits was not applied')
    const events = toStored(verdict.changes.events, position)
    position += events.length
    return { committed: true, events, counts: verdict.counts }
  })
}
