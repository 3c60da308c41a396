import type { RunRecord, Timers } from '@perdure/ports'
import { type CommitOnceDeps, toStoredResponse } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { acceptedReply, awaitedReply, type RunOutcome } from '../runs/run-outcome.ts'
import type { RunWaiters } from '../runs/run-waiters.ts'
import type { Slot } from './lanes/admission.ts'
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
  const first = await (waitMs === undefined ? outcome : Promise.race([outcome, elapsed(deps.timers, waitMs, outcome)]))
  if (first !== 'elapsed' && first.isInterim !== true) return awaitedReply(first, deps.basePath)

  const current = first === 'elapsed' ? deps.runWaiters.stopWaiting(run.id) : first
  const isExecuting = current === undefined || deps.runner.isLive(run.id)
  const { run: now, detail } = isExecuting ? { run, detail: { position: slot.position() } } : current
  const reply = acceptedReply(now, deps.basePath, detail)
  if (key === undefined || (await storeAnswer(deps, run, reply))) return reply
  return awaitedReply(await outcome, deps.basePath)
}

/** Stores the answer of a key whose run has no outcome yet. @returns false if the key has another answer */
export async function storeAnswer(
  { unitOfWork }: Pick<CommitOnceDeps, 'unitOfWork'>,
  { id: runId }: Pick<RunRecord, 'id'>,
  reply: Reply,
): Promise<boolean> {
  const response = toStoredResponse(reply)
  const commit = await unitOfWork.commit([{ type: 'idempotency.complete', runId, response }])
  return commit.committed && commit.counts[0] === 1
}

/** Resolves with `'elapsed'` after the delay. Its timer is cancelled when `outcome` settles first. */
function elapsed(timers: Timers, delayMs: number, outcome: Promise<unknown>): Promise<'elapsed'> {
  return new Promise((resolve) => {
    const cancel = timers.after(delayMs, () => resolve('elapsed'))
    outcome.then(cancel, cancel)
  })
}
