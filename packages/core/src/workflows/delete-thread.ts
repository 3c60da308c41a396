import { EVERY_ROW, type RunStore, type Visibility } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import type { ThreadClaims } from '../engine/thread-claims.ts'
import { answerAfterDeletion } from '../idempotency/answer-after-deletion.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { abortIfActive } from '../runs/abort-if-active.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { eachRun } from '../runs/each-run.ts'
import type { ThreadRef } from '../runs/find-thread.ts'
import type { WorkflowThreads } from './workflow-threads.ts'

export interface DeleteThreadDeps extends CommitOnceDeps {
  readonly runs: RunStore
  readonly threads: WorkflowThreads
  readonly abortRun: AbortRun
  readonly threadClaims: ThreadClaims
}

/**
 * Deletes a thread with its runs, recorded calls, approvals, events and the stored answers about them. Aborts its
 * active runs first; no run of the thread can start in the meantime.
 *
 * @throws PerdureError `thread-not-found`
 */
export type DeleteThread = (request: DeleteThreadRequest) => Promise<Reply>

export interface DeleteThreadRequest extends ThreadRef {
  /** Runs that are visible to the caller. */
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

const DELETED = answerAfterDeletion('thread-not-found', 'thread')

export function createDeleteThread(deps: DeleteThreadDeps): DeleteThread {
  const { runs, threads, abortRun, threadClaims } = deps

  const remove: DeleteThread = async ({ workflowId, threadId, visibility, key }) => {
    await threads.newestRun({ workflowId, threadId }, visibility)
    const filter = { kind: 'workflow', targetId: workflowId, threadId, statuses: ACTIVE_RUN_STATUSES } as const
    // The deletion conflicts when another process has started a run in the meantime.
    const result = await commitOnce(deps, key, async () => {
      for await (const { id } of eachRun(runs, filter, { content: [] })) {
        await abortIfActive(abortRun, { runId: id, reason: 'the thread is deleted', visibility: EVERY_ROW })
      }
      return {
        writes: [{ type: 'thread.delete', workflowId, threadId, answer: DELETED }],
        reply: { status: 204 },
        remember: true,
      }
    })
    return result.kind === 'replayed' ? result.reply : result.decision.reply
  }

  return async (request) => {
    // Before the claim: a caller that cannot see the thread must not lock it.
    await threads.newestRun(request, request.visibility)
    const release = await threadClaims.claimWhenFree(request)
    return remove(request).finally(release)
  }
}
