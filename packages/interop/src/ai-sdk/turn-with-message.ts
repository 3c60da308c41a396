import { type LogEvent, receivedMessage } from '@perdure/core'
import { fromJsonText, type ListedRun, type RunRecord } from '@perdure/ports'
import { messagesIn } from '../chat/chat-input.ts'
import { type BriefRun, type ChatRuns, type ChatSessionDeps, MESSAGE_REF, messageRef } from '../chat/chat-session.ts'
import { runsWithEarlier } from '../chat/earlier-messages.ts'
import type { RunLogDeps } from '../chat/run-log.ts'
import { questionsIn, questionsOf } from './chat-history.ts'
import type { UiMessage } from './ui-message.ts'

export interface TurnWithMessageDeps extends ChatSessionDeps, Pick<RunLogDeps, 'events' | 'yieldTurn'> {}

export interface TurnWithMessage {
  readonly id: string
  /** What the user had sent to the turn before the message. */
  readonly earlier: readonly UiMessage[]
  readonly message: UiMessage
  /** Whether the turn has stored the messages as they were sent, and not an input that was made from them. */
  readonly isAsSent: boolean
}

/**
 * The turn that shows a message although another message has started it: it has taken the message while it worked, or it
 * replaces the turn that had.
 *
 * @param runId the run that the message has started, or that its id names if the server gave it that id
 */
export async function turnWithMessage(
  deps: TurnWithMessageDeps,
  chat: ChatRuns,
  { id, runId }: Pick<UiMessage, 'id'> & { readonly runId: string | undefined },
): Promise<TurnWithMessage | undefined> {
  const turn = await shownTurn(deps, chat, runId)
  if (turn === undefined) return undefined
  const messages = [...questionsOf(turn), ...(await takenBy(deps, turn))]
  // An input that was made from the message names it as metadata does.
  const ids = [id, messageRef(deps.digest, id)]
  const index = messages.findIndex((message) => ids.includes(message.id))
  const message = messages[index]
  if (message === undefined) return undefined
  const isAsSent = messagesIn(fromJsonText(turn.input)).length > 0
  return { id: turn.id, earlier: messages.slice(0, index), message, isAsSent }
}

/** The newest run that the message has started, alone or with later ones, also one that the conversation does not show. */
export async function runStartedBy(
  { runs, digest }: TurnWithMessageDeps,
  chat: ChatRuns,
  id: string,
): Promise<BriefRun | undefined> {
  const { agentId: targetId, sessionId, visibility } = chat
  const metadata = { [MESSAGE_REF]: messageRef(digest, id) }
  const filter = { kind: 'agent', targetId, sessionId, isRoot: true, metadata } as const
  const { items } = await runs.list(filter, { limit: 1, order: 'desc', content: [] }, visibility)
  return items[0] ?? (id === '' ? undefined : (await runsWithEarlier({ runs }, chat, [id])).get(id))
}

/** How often a turn may have been replaced. */
const MAX_REPLACED = 100

/** The turn that is shown in place of the run. */
async function shownTurn(
  { runs }: TurnWithMessageDeps,
  { agentId, sessionId, visibility }: ChatRuns,
  runId: string | undefined,
): Promise<RunRecord | undefined> {
  let next = runId
  for (let replaced = 0; next !== undefined && replaced < MAX_REPLACED; replaced++) {
    const run: RunRecord | undefined = await runs.find(next, visibility)
    const isOfChat = run?.targetId === agentId && run.sessionId === sessionId && run.parentRunId === undefined
    if (run === undefined || !isOfChat || run.withdrawnBy === run.id) return undefined
    if (run.withdrawnBy === undefined) return run
    next = run.withdrawnBy
  }
  return undefined
}

const BATCH = { limit: 200, maxLength: 128 * 1_024 }

/** The messages that the turn has taken while it worked. */
async function takenBy(
  { events, yieldTurn }: TurnWithMessageDeps,
  { id: runId }: Pick<ListedRun, 'id'>,
): Promise<readonly UiMessage[]> {
  const taken: UiMessage[] = []
  for (let after = 0; ; ) {
    const batch = await events.read({ runId }, { after, ...BATCH })
    for (const { type, payload } of batch) {
      if (type !== 'run.message') continue
      const received = receivedMessage({ type, payload: fromJsonText(payload) } as LogEvent)
      if (received !== undefined) taken.push(...questionsIn(received.content, { id: received.from, metadata: {} }))
    }
    const last = batch.at(-1)
    if (last === undefined) return taken
    after = last.position
    await yieldTurn()
  }
}
