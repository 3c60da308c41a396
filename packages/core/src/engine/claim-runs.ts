import type { Clock, Cluster, ClusterTarget } from '@perdure/ports'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { Admission } from './lanes/admission.ts'
import { queuedSince } from './lanes/run-line.ts'
import type { Runner } from './runner.ts'

export interface ClaimRunsDeps extends SupervisedLoopDeps {
  readonly cluster: Pick<Cluster, 'claim'>
  readonly clock: Clock
  readonly admission: Pick<Admission, 'freeSlots' | 'recheck'>
  readonly runner: Pick<Runner, 'isLive' | 'live' | 'relaunch'>
  /** The code that this process has. */
  readonly clusterTargets: () => readonly ClusterTarget[]
}

const EVERY_MS = 500
/** Runs whose lanes are full take no slot of the process, so a round may claim more runs than it has free slots. */
const MOST_PER_ROUND = 1_000
/** How often reservations are looked for whose answer was lost, for example with the connection to the database. */
const LOST_EVERY_MS = 2_000

/**
 * Executes queued runs of all processes while this process has free slots. `wake` claims at once, for a signal that a
 * run was queued elsewhere.
 */
export function createClaimRuns(deps: ClaimRunsDeps): SupervisedLoop {
  const { cluster, clock, admission, runner, clusterTargets } = deps

  let checkedAtMs = Number.NEGATIVE_INFINITY

  /** Names the runs of this process from time to time: all of them would make every claim slower. */
  const heldRuns = (): readonly string[] | undefined => {
    if (clock.monotonicMs() - checkedAtMs < LOST_EVERY_MS) return undefined
    checkedAtMs = clock.monotonicMs()
    return runner.live().map(({ run }) => run.id)
  }

  const claimSome = async (): Promise<number> => {
    const limit = admission.freeSlots()
    if (limit === 0) return 0
    const runs = await cluster.claim({ targets: clusterTargets(), now: clock.now(), limit, held: heldRuns() })
    for (const run of runs) if (!runner.isLive(run.id)) runner.relaunch(run, queuedSince(run))
    return runs.length
  }

  return createSupervisedLoop(deps, {
    name: 'queued runs',
    async work() {
      admission.recheck()
      for (let claimed = 0; claimed < MOST_PER_ROUND; ) {
        const count = await claimSome()
        if (count === 0) break
        claimed += count
      }
      return EVERY_MS
    },
  })
}
