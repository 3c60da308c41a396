import { isPerdureError } from '@perdure/client'
import type { Chat } from 'chat'
import type { Callers } from './callers.ts'
import type { ChatUser, DecisionEvent } from './chat-event.ts'
import { keyOf } from './chat-names.ts'

export interface DecideDeps {
  readonly chat: Chat
  readonly mayDecide: (user: ChatUser) => boolean | Promise<boolean>
}

/** Decides an approval as the person who pressed the button, and wakes the follower of the run. */
export async function decide(
  { chat, mayDecide }: DecideDeps,
  callers: Callers,
  { user, threadId, approvalId, runId, approved }: DecisionEvent,
): Promise<'decided' | 'refused'> {
  const client = callers.user(user, threadId, { decidesForOthers: await mayDecide(user) })
  const outcome = await client.approvals
    .resolve(approvalId, { approved }, { idempotencyKey: keyOf(approvalId, user.userId, String(approved)) })
    .then(
      () => 'decided' as const,
      (error: unknown) => {
        if (isPerdureError(error) && REFUSALS.has(error.code)) return 'refused' as const
        throw error
      },
    )
  if (outcome === 'refused') await tell(chat, { user, threadId })
  await callers.wake(runId)
  return outcome
}

const REFUSALS: ReadonlySet<string> = new Set([
  'approval-not-found',
  'approval-not-assigned',
  'approval-resolved',
  'run-not-active',
])

const REFUSED = 'This request was already decided, or you may not decide it.'

/** Tells only the person who pressed. A platform that cannot do this shows nothing: the card is still open, or shows the decision. */
async function tell(chat: Chat, { user, threadId }: Pick<DecisionEvent, 'user' | 'threadId'>): Promise<void> {
  await chat.thread(threadId).postEphemeral(user.userId, REFUSED, { fallbackToDM: false })
}
