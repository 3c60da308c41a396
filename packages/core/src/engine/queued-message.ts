import {
  type FlowKeys,
  type JsonText,
  perdureError,
  type RunRecord,
  toJsonText,
  type Visibility,
  type Write,
} from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { isLongerThan } from '../json/json-members.ts'
import { findRunToChange } from '../runs/find-run-to-change.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { outcomeReply } from '../runs/run-outcome.ts'
import { isMessage } from '../runs/turn.ts'
import { type NewestMessageDeps, newestMessageWrites } from '../sessions/newest-message.ts'
import { checkInput } from '../targets/check-input.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { announce, type EndRunDeps, planEnd } from './end-run.ts'
import { flowKeysOf, withoutDebounce } from './lanes/flow-keys.ts'
import { refuseMissingFile, runFileWrites } from './run-file-writes.ts'
import type { Runner } from './runner.ts'

export interface QueuedMessageDeps extends CommitOnceDeps, EndRunDeps, NewestMessageDeps {
  readonly targets: RunTargets
  readonly runner: Runner
  readonly maxResultBytes: number
}

interface QueuedMessageRequest {
  readonly runId: string
  readonly principal: Principal
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

export interface EditMessageRequest extends QueuedMessageRequest {
  readonly input: unknown
}

/**
 * Changes the input of a run that has not started yet. Its place in the queue stays the same.
 *
 * @throws PerdureError `run-not-found`; `scope-denied`; `run-not-queued`; `invalid-input`; `body-too-large`
 */
export type EditMessage = (request: EditMessageRequest) => Promise<Reply>

export function createEditMessage(deps: QueuedMessageDeps): EditMessage {
  const { runner, targets, clock, basePath, maxResultBytes } = deps

  const plan = async ({ key: _, input, ...asked }: EditMessageRequest) => {
    const run = await findQueued(deps, asked)
    const target = targets.ofRun(run) ?? targets.get(run.kind, run.targetId, run.version)
    const parsed = await checkInput(target, input)
    const text = toJsonText(parsed)
    if (isLongerThan(text, maxResultBytes)) throw perdureError('body-too-large', { hint: 'raise runs.maxResultBytes' })
    const at = clock.now()
    // The start time tells one content of the run from another. It hardly changes, so the position in the queue stays the same.
    const startAt = ((run.startAt ?? run.createdAt) - 1) as typeof at
    const keys = withoutDebounce(flowKeysOf(target, run, parsed))
    const flow: FlowKeys = { ...keys, debounce: run.flow?.debounce, onBusy: run.flow?.onBusy }
    const edited: RunRecord = { ...run, input: text, startAt, flow }
    const { id: runId, attempt } = run
    const writes: readonly Write[] = [
      {
        ...{ type: 'run.transition', runId, from: ['queued'], attempt, execution: 0, startAt: run.startAt ?? null },
        change: { input: text, startAt, flow },
      },
      ...replaceInTranscript(run, text),
      ...(await newestMessageWrites(deps, run, text)),
      ...runFileWrites(edited),
      { type: 'event.append', events: [lifecycleEvent(edited, 'run.queued', { at, reason: 'edited' })] },
    ]
    return { writes, reply: outcomeReply(edited, basePath), remember: true, edited }
  }

  return async (request) => {
    const once = await commitOnce(deps, request.key, (conflict) => {
      refuseMissingFile(conflict)
      return plan(request)
    })
    if (once.kind === 'replayed') return once.reply
    const { edited } = once.decision
    if (runner.isLive(edited.id)) runner.requeue(edited)
    return once.decision.reply
  }
}

const replaceInTranscript = ({ id, sessionId }: RunRecord, content: JsonText): readonly Write[] =>
  sessionId === undefined ? [] : [{ type: 'message.replace', sessionId, runId: id, content }]

/**
 * Withdraws a run that has not started yet: it is aborted, and the conversation does not show its message.
 *
 * @throws PerdureError `run-not-found`; `scope-denied`; `run-not-queued`
 */
export type WithdrawMessage = (request: QueuedMessageRequest) => Promise<Reply>

export function createWithdrawMessage(deps: QueuedMessageDeps): WithdrawMessage {
  const { runner, basePath } = deps
  return async ({ key, ...asked }) => {
    const once = await commitOnce(deps, key, async () => {
      const run = await findQueued(deps, asked)
      const { writes, ended } = planEnd(deps, run, {
        ...{ status: 'aborted', finishReason: 'aborted', reason: 'withdrawn', withdrawnBy: run.id },
        ...{ execution: 0, hasDependents: false },
      })
      const shown = await newestMessageWrites(deps, run)
      return { writes: [...writes, ...shown], reply: outcomeReply(ended, basePath), remember: true, ended }
    })
    if (once.kind === 'replayed') return once.reply
    const { ended } = once.decision
    announce(deps, ended, { hasDependents: false })
    runner.abort(ended.id, 'aborted')
    return once.decision.reply
  }
}

/**
 * Only the owner may change what a run is asked, because the run acts with the rights of its owner. A child run, a fork and the run
 * of a trigger are no messages: others have approved or chosen their inputs.
 */
async function findQueued(deps: QueuedMessageDeps, asked: Omit<QueuedMessageRequest, 'key'>): Promise<RunRecord> {
  const run = await findRunToChange(deps, asked)
  if (run.owner !== asked.principal.subject) {
    throw perdureError('scope-denied', {
      message: `the message belongs to ${run.owner}`,
      hint: 'only its owner can edit or withdraw it; abort the run instead',
    })
  }
  const hint = 'send another message instead'
  if (!isMessage(run)) {
    throw perdureError('run-not-queued', { message: 'the run was not started by a message of its session', hint })
  }
  if (run.status === 'queued' && run.execution === 0) return run
  const isTaken = run.finishReason === 'joined'
  throw perdureError('run-not-queued', {
    message: isTaken ? `the run ${run.withdrawnBy} has taken the message` : `the run is ${run.status}`,
    hint,
  })
}
