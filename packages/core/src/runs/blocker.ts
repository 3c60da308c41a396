import type { RunStore } from '@perdure/ports'
import { eachRun } from './each-run.ts'
import type { WaitingFor } from './run-outcome.ts'
import { type WaitingRun, type WaitReads, waitPages } from './waiting-for.ts'

/**
 * What a suspended run depends on: the `work` of child runs, which goes on by itself; a `time`; or something from
 * `outside`, such as a person, an event or other code.
 */
export type Blocker = 'work' | 'time' | 'outside'

const RANKS: { readonly [Name in Blocker]: number } = { work: 0, time: 1, outside: 2 }

const stronger = (one: Blocker, other: Blocker): Blocker => (RANKS[other] > RANKS[one] ? other : one)

/** What the waits of a run depend on, if every child works. */
export function blockerOf(waitingFor: readonly WaitingFor[] = []): Blocker {
  if (waitingFor.length === 0) return 'outside'
  return waitingFor.map(({ kind }) => OF_KIND.get(kind) ?? 'outside').reduce(stronger)
}

const OF_KIND: ReadonlyMap<string, Blocker> = new Map([
  ['child', 'work'],
  ['sleep', 'time'],
])

export interface BlockerReads extends WaitReads {
  readonly runs: Pick<RunStore, 'list'>
}

/** What a suspended run depends on, by its own waits and those of its suspended descendants. */
export async function findBlocker(reads: BlockerReads, run: WaitingRun): Promise<Blocker> {
  let found: Blocker = 'work'
  for await (const waits of waitPages(reads, run)) {
    found = stronger(found, blockerOf(waits))
    if (found === 'outside') return found
    found = stronger(found, await blockerOfChildren(reads, waits))
    if (found === 'outside') return found
  }
  return found
}

async function blockerOfChildren(reads: BlockerReads, waits: readonly WaitingFor[]): Promise<Blocker> {
  let found: Blocker = 'work'
  const ids = waits.flatMap(({ runId }) => (runId === undefined ? [] : [runId]))
  if (ids.length === 0) return found
  // A child that is queued or executes works; one that has ended is about to resume its parent.
  const suspended = eachRun(reads.runs, { ids, statuses: ['suspended'] }, { content: ['suspension', 'resumption'] })
  for await (const child of suspended) {
    found = stronger(found, await findBlocker(reads, child))
    if (found === 'outside') break
  }
  return found
}
