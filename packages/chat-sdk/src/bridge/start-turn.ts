import { isPerdureError } from '@perdure/client'
import type { Callers } from './callers.ts'
import type { MessageEvent } from './chat-event.ts'
import { keyOf, sessionIdOf } from './chat-names.ts'

/** A turn that was started, or why the server refused it. */
export type StartedTurn = { readonly runId: string } | { readonly refused: string }

/** Starts the run of a message, as its author, in the session of the thread. A repeated call finds the run of the first one. */
export async function startTurn(
  callers: Callers,
  agentId: string,
  { user, threadId, messageId, input }: MessageEvent,
): Promise<StartedTurn> {
  try {
    const { runId } = await callers
      .user(user, threadId)
      .agents.start(
        agentId,
        { input, sessionId: sessionIdOf(threadId), metadata: { 'chat.thread': threadId, 'chat.message': messageId } },
        { idempotencyKey: keyOf(threadId, messageId) },
      )
    return { runId }
  } catch (error) {
    if (isPerdureError(error) && REFUSALS.has(error.code)) return { refused: error.code }
    throw error
  }
}

/** What a repeated request would be answered with too. Other errors end, such as those of a server that stops. */
const REFUSALS: ReadonlySet<string> = new Set([
  'agent-not-found',
  'invalid-input',
  'validation-failed',
  'agent-busy',
  'queue-full',
  'quota-exceeded',
])
