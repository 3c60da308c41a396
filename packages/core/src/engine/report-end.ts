import {
  EVERY_ROW,
  type FlowKeys,
  type Logger,
  type RunRecord,
  type RunStore,
  type SessionStore,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import { isLongerThan } from '../json/json-members.ts'
import { abortIfActive } from '../runs/abort-if-active.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { acceptedReply } from '../runs/run-outcome.ts'
import { type SessionWritesDeps, sessionWrites } from '../sessions/session-writes.ts'
import { inputFromChat } from '../targets/input-from-chat.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { begunTurns } from './earlier-turn.ts'
import { endAsChat } from './ended-run-message.ts'
import { INTERRUPTED } from './interrupted.ts'
import { acceptedFlow, type NewRunDeps, type NewRunRequest, newRun } from './new-run.ts'

export interface ReportEndDeps extends CommitOnceDeps, NewRunDeps, SessionWritesDeps {
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly targets: RunTargets
  readonly abortRun: AbortRun
  readonly basePath: string
  readonly logger: Logger
}

/**
 * Makes the end of a background run a message of its session. The commit that stores the message also removes the mark of the
 * ended run, so a crash neither loses nor repeats it.
 *
 * @returns the turn that the message has started, which is queued
 */
export type ReportEnd = (ended: RunRecord) => Promise<RunRecord | undefined>

export function createReportEnd(deps: ReportEndDeps): ReportEnd {
  const { abortRun, basePath } = deps
  return async (ended) => {
    const agentId = ended.flow?.background?.reportTo
    if (agentId === undefined || ended.sessionId === undefined) return undefined
    // Two processes may apply the same end.
    const key = { id: `end:${ended.id}`, fingerprint: ended.id }
    const once = await commitOnce(deps, key, async (conflict) => {
      const isGone = conflict?.type === 'message.append'
      const message = isGone ? undefined : await messageOf(deps, ended, agentId)
      const done: Write = { type: 'run.followed-up', runId: ended.id }
      const reply = message === undefined ? { status: 204 as const } : acceptedReply(message.run, basePath)
      return { writes: [...(message?.writes ?? []), done], reply, remember: true, message }
    })
    if (once.kind === 'replayed' || once.decision.message === undefined) return undefined
    const { run, toInterrupt } = once.decision.message
    for (const runId of toInterrupt)
      await abortIfActive(abortRun, { runId, reason: INTERRUPTED, visibility: EVERY_ROW })
    return run
  }
}

/** `undefined` if the conversation is deleted, or no longer shows the turn that has started the run. */
async function messageOf(deps: ReportEndDeps, ended: RunRecord, agentId: string) {
  const { runs, sessions, targets } = deps
  const { sessionId = '', owner, caller, userId } = ended
  const session = await sessions.find(sessionId, EVERY_ROW)
  if (session === undefined || (await isWithdrawn(runs, ended))) return undefined
  const target = targets.find('agent', agentId) ?? unregistered(agentId)
  const input = await fittingInput(deps, target, ended)
  const body = { input, sessionId, userId, metadata: { endedRunId: ended.id } }
  const request = { body, principal: { subject: owner, caller }, origin: {} }
  const run = newRun(deps, request, { target, input, flow: flowOf(deps, target, request) })
  const toInterrupt = target.onBusy === 'interrupt' ? await begunTurns(runs, run, ACTIVE_RUN_STATUSES) : []
  const writes: readonly Write[] = [
    insertRun(targets, run),
    ...sessionWrites(deps, run, { session }),
    ...toInterrupt.map((runId) => ({ type: 'run.interrupt', runId }) as const),
    { type: 'event.append', events: [lifecycleEvent(run, 'run.queued', { at: run.createdAt })] },
  ]
  return { run, toInterrupt, writes }
}

/** Whether another turn has replaced the one that has started the run. */
async function isWithdrawn(runs: RunStore, { parentRunId }: RunRecord): Promise<boolean> {
  const parent = parentRunId === undefined ? undefined : await runs.find(parentRunId, EVERY_ROW)
  if (parent === undefined) return false
  return parent.withdrawnBy !== undefined || isWithdrawn(runs, parent)
}

type Target = Parameters<typeof acceptedFlow>[1] & Parameters<typeof inputFromChat>[0]

/** Another process may have the agent. */
const unregistered = (id: string): Target => ({ kind: 'agent', id, concurrency: 'session', onBusy: 'queue' })

/** A key function that fails must not lose the message. */
function flowOf({ logger }: ReportEndDeps, target: Target, request: NewRunRequest): FlowKeys | undefined {
  try {
    return acceptedFlow(request, target, request.body.input)
  } catch (error) {
    logger.warn('could not compute the flow keys of a message', { agentId: target.id, error: String(error) })
    return undefined
  }
}

/** How many characters of a result a message may have: the model reads it again with each later turn. */
const MAX_RESULT = [32_768, 8_192, 1_024, 0] as const

async function fittingInput(deps: ReportEndDeps, target: Target, ended: RunRecord): Promise<unknown> {
  let input: unknown
  for (const maxResult of MAX_RESULT) {
    input = await inputOf(deps, target, { ended, maxResult })
    if (!isLongerThan(toJsonText(input), deps.maxResultBytes)) break
  }
  return input
}

interface Shown {
  readonly ended: RunRecord
  readonly maxResult: number
}

/** The registration may have changed since the run was started. */
async function inputOf({ logger }: ReportEndDeps, target: Target, { ended, maxResult }: Shown): Promise<unknown> {
  const chat = endAsChat(ended, maxResult)
  try {
    return await inputFromChat(target, chat)
  } catch (error) {
    logger.warn('an agent takes no messages; it gets the end of a run as a chat', {
      ...{ agentId: target.id, runId: ended.id, error: String(error) },
    })
    return chat
  }
}
