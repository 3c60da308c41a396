import { EVERY_ROW, type ListedRun, perdureError, type RunStore } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { eachItem } from '../collections/each-item.ts'
import { isBefore } from '../runs/turn.ts'
import { MESSAGE_ID, MESSAGE_REF } from '../sessions/chat-session-id.ts'

export type CopiedTurn = ListedRun<'input' | 'result'>

export interface CopiedChat {
  readonly agentId: string
  readonly sessionId: string
  /** The turn of this message is the last one; by default, the last one that has ended. */
  readonly messageId?: string | undefined
}

/** As many turns as a conversation shows whole. The older ones stay in the chat that is copied. */
const MAX_TURNS = 200
/** The text of everything that one commit copies: as much as a model sees of a conversation. */
export const MAX_COPIED_LENGTH = 4 * 1_024 * 1_024

export const turnLength = ({ input, result }: CopiedTurn): number => input.length + (result?.length ?? 0)

/**
 * The turns to copy, newest first: those that have ended, as many as one commit may copy.
 *
 * @throws PerdureError `validation-failed` if no turn that has ended has the message, or the chat has none
 */
export async function turnsToCopy(runs: Pick<RunStore, 'find' | 'list'>, chat: CopiedChat): Promise<CopiedTurn[]> {
  const { agentId, sessionId, messageId } = chat
  const last = messageId === undefined ? undefined : await turnOfMessage(runs, { sessionId, messageId })
  if (messageId !== undefined && (last === undefined || !isTerminal(last.status))) throw noSuchMessage(messageId)
  const until = last === undefined ? undefined : ((last.createdAt + 1) as typeof last.createdAt)
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true, until } as const
  const read = (cursor?: string) =>
    runs.list(filter, { limit: MAX_TURNS, order: 'desc', cursor, content: ['input', 'result'] }, EVERY_ROW)
  const chosen: CopiedTurn[] = []
  let length = 0
  for await (const turn of eachItem(read)) {
    if (!isTerminal(turn.status) || (last !== undefined && turn.id !== last.id && !isBefore(turn, last))) continue
    length += turnLength(turn)
    if (chosen.length === MAX_TURNS || length > MAX_COPIED_LENGTH) break
    chosen.push(turn)
  }
  if (chosen.length > 0) return chosen
  throw perdureError('validation-failed', {
    message: 'the chat has no turn that has ended and can be copied',
    hint: 'fork the chat after the agent has answered',
  })
}

const noSuchMessage = (messageId: string) =>
  perdureError('validation-failed', {
    message: `body.messageId: the chat has no turn with the message ${messageId} that has ended`,
    hint: 'name a message that the chat shows, after the agent has answered it',
  })

interface NamedMessage {
  readonly sessionId: string
  readonly messageId: string
}

/** The turn that shows the message. A message that a busy agent has taken is part of the turn that took it. */
async function turnOfMessage(runs: Pick<RunStore, 'find' | 'list'>, { sessionId, messageId }: NamedMessage) {
  const named = await runs.find(runIdIn(messageId), EVERY_ROW)
  const run = named?.sessionId === sessionId ? named : await runWithRef(runs, { sessionId, messageId })
  const turn = run?.withdrawnBy === undefined ? run : await runs.find(run.withdrawnBy, EVERY_ROW)
  return turn?.sessionId === sessionId && turn.withdrawnBy === undefined ? turn : undefined
}

/** The ids of answers, and of questions whose client gave them none, contain that of their run. */
const runIdIn = (messageId: string): string => messageId.replace(/^msg_/, '').split(/[.-]/)[0] ?? ''

async function runWithRef(runs: Pick<RunStore, 'list'>, { sessionId, messageId }: NamedMessage) {
  for (const key of [MESSAGE_REF, MESSAGE_ID]) {
    const filter = { kind: 'agent', sessionId, metadata: { [key]: messageId } } as const
    const { items } = await runs.list(filter, { limit: 1, order: 'desc', content: [] }, EVERY_ROW)
    if (items[0] !== undefined) return items[0]
  }
  return undefined
}
