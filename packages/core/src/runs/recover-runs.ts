import type { Logger, RunRecord, RunStore } from '@berth/ports'
import type { AgentRegistry, RegisteredAgent } from '../agents/registry.ts'
import { eachRun } from './each-run.ts'
import { type EndRunDeps, endRun } from './end-run.ts'
import { lifecycleEvent } from './run-events.ts'
import type { Runner } from './runner.ts'

export interface RecoverRunsDeps extends EndRunDeps {
  readonly runs: RunStore
  readonly agents: AgentRegistry
  readonly runner: Runner
  readonly logger: Logger
}

export interface Recovered {
  readonly interrupted: number // ended, because their outside effects cannot be known
  readonly requeued: number // will run again
}

/**
 * Settles what the last process left behind, before the listener binds: no run is `running` afterwards. A run of a
 * `resume` agent is queued again under the next attempt until its attempts are used up; any other one fails as
 * `interrupted`.
 */
export async function recoverRuns(deps: RecoverRunsDeps): Promise<Recovered> {
  const { runs, agents } = deps
  let interrupted = 0
  let requeued = 0
  let work: Promise<boolean>[] = []
  const collect = async () => {
    for (const isRequeued of await Promise.all(work)) isRequeued ? requeued++ : interrupted++
    work = []
  }
  for await (const run of eachRun(runs, { statuses: ['running'] })) {
    work.push(recover(deps, run, agents.find(run.targetId)))
    if (work.length === BATCH) await collect()
  }
  await collect()
  return { interrupted, requeued }
}

const BATCH = 64

/** True when the run will execute again. */
async function recover(deps: RecoverRunsDeps, run: RunRecord, agent: RegisteredAgent | undefined): Promise<boolean> {
  if (agent?.recovery !== 'resume') {
    const message = 'the server stopped while the run was executing; its outside effects may have happened'
    await endRun(deps, run, {
      status: 'failed',
      finishReason: 'interrupted',
      error: { code: 'run-interrupted', message },
    })
    return false
  }
  if (run.attempt >= agent.maxAttempts) {
    const message = `the run was attempted ${run.attempt} times and never finished`
    await endRun(deps, run, { status: 'failed', finishReason: 'error', error: { code: 'attempts-exhausted', message } })
    return false
  }
  const next: RunRecord = { ...run, status: 'queued', attempt: run.attempt + 1 }
  await deps.unitOfWork.commit([
    {
      type: 'run.transition',
      runId: run.id,
      from: ['running'],
      attempt: run.attempt,
      change: { status: 'queued', attempt: next.attempt },
    },
    {
      type: 'event.append',
      events: [lifecycleEvent(next, 'run.queued', { at: deps.clock.now(), reason: 'recovered' })],
    },
  ])
  return true
}

/** Puts every queued run in line, in the order of creation. Returns how many. Called before new runs are taken. */
export async function lineUpRuns({ runs, agents, runner, logger }: RecoverRunsDeps): Promise<number> {
  let count = 0
  for await (const run of eachRun(runs, { statuses: ['queued'] })) {
    const agent = agents.find(run.targetId)
    if (agent === undefined) {
      logger.warn('queued run waits for an agent that is not registered', { runId: run.id, agentId: run.targetId })
      continue
    }
    const place = runner.enter({ ...agent, onBusy: 'queue' }, run)
    runner.launch({ run, agent, place })
    count++
  }
  return count
}
