import { isPerdureError } from '@perdure/client'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import type { Callers } from './callers.ts'
import type { ChatEvent } from './chat-event.ts'
import { sessionIdOf } from './chat-names.ts'

const REASON = 'stopped in the chat'

/** Aborts the runs of the thread that have not ended and that messages of this person have started. */
export async function stopTurns(
  callers: Callers,
  { user, threadId }: Pick<Extract<ChatEvent, { readonly kind: 'stop' }>, 'user' | 'threadId'>,
): Promise<void> {
  const client = callers.user(user, threadId)
  for (const status of ACTIVE_RUN_STATUSES) {
    for await (const { id: runId } of client.runs.list({ sessionId: sessionIdOf(threadId), status })) {
      await client.runs.abort(runId, { reason: REASON }).catch(unlessEnded)
      await callers.wake(runId)
    }
  }
}

function unlessEnded(error: unknown): void {
  if (!isPerdureError(error) || (error.code !== 'run-not-active' && error.code !== 'run-not-found')) throw error
}
