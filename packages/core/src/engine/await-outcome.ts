import type { RunRecord, Timers } from '@perdure/ports'
import { type CommitOnceDeps, toStoredResponse } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { acceptedReply, awaitedReply, type RunOutcome } from '../runs/run-outcome.ts'
import { type RunWaiters, resolvesOnItsOwn } from '../runs/run-waiters.ts'
import type { Slot } from './admission.ts'
import type { Runner } from './runner.ts'

export interface AwaitOutcomeDeps extends CommitOnceDeps {
  readonly timers: Timers
  readonly runner: Runner
  readonly runWaiters: RunWaiters
  readonly basePath: string
}

export interface WaitingRequest {
  readonly key?: KeyedRequest | undefined
  /** Answers 202 after this time. Milliseconds; waits without a limit when missing. */
  readonly waitMs?: number | undefined
}

/** A started run and its outcome, which the request waits for. */
export interface AwaitedRun {
  readonly run: RunRecord
  readonly outcome: Promise<RunOutcome>
  readonly slot: Slot
}

/**
 * Answers with the outcome of a run, or with 202 and its current status once `waitMs` has passed or the server stops.
 * Whichever of the two answers is committed first is stored under the idempotency key.
 */
export async function awaitOutcome(
  deps: AwaitOutcomeDeps,
  { key, waitMs }: WaitingRequest,
  { run, outcome, slot }: AwaitedRun,
): Promise<Reply> {
  if (waitMs === undefined) return awaitedReply(await outcome, deps.basePath)

  const first = await Promise.race([outcome, elapsed(deps.timers, waitMs, outcome)])
  const isOutcome =
    first !== 'elapsed' && !(first.run.status === 'suspended' && resolvesOnItsOwn(first.detail?.waitingFor))
  if (isOutcome) return awaitedReply(first, deps.basePath)

  const current = first === 'elapsed' ? deps.runWaiters.stopWaiting(run.id) : first
  const isExecuting = current === undefined || deps.runner.isLive(run.id)
  const { run: now, detail } = isExecuting ? { run, detail: { position: slot.position() } } : current
  const reply = acceptedReply(now, deps.basePath, detail)
  if (key === undefined) return reply
  const response = toStoredResponse(reply)
  const commit = await deps.unitOfWork.commit([{ type: 'idempotency.complete', runId: run.id, response }])
  const wasFirst = commit.committed && commit.counts[0] === 1
  return wasFirst ? reply : awaitedReply(await outcome, deps.basePath)
}

/** Resolves with `'elapsed'` after the delay. Its timer is cancelled when `outcome` settles first. */
function elapsed(timers: Timers, delayMs: number, outcome: Promise<unknown>): Promise<'elapsed'> {
  return new Promise((resolve) => {
    const cancel = timers.after(delayMs, () => resolve('elapsed'))
    outcome.then(cancel, cancel)
  })
}
