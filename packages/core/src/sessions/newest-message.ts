import { EVERY_ROW, type JsonText, type MessageRecord, type RunRecord, type Storage, type Write } from '@perdure/ports'
import { briefOf } from './message-brief.ts'
import { withdrawnAmong } from './withdrawn-messages.ts'

export type NewestMessageDeps = Pick<Storage, 'chats' | 'sessions' | 'runs'>

/** How many messages before the newest one are looked at. If all are withdrawn, the list shows none. */
const MAX_LOOKED_AT = 50

/**
 * What a list of chats shows after the message of a run was edited or withdrawn. Nothing changes if the message is not the
 * newest one of a chat.
 *
 * @param content the edited message; missing if the message was withdrawn
 */
export async function newestMessageWrites(
  deps: NewestMessageDeps,
  run: RunRecord,
  content?: JsonText,
): Promise<readonly Write[]> {
  const { id, sessionId } = run
  const chat = sessionId === undefined ? undefined : await deps.chats.find(sessionId, EVERY_ROW)
  if (sessionId === undefined || chat === undefined) return []
  const page = { limit: MAX_LOOKED_AT, order: 'desc' } as const
  const { items } = await deps.sessions.messages(sessionId, page)
  const newest = items.findIndex(({ seq }) => seq === chat.lastSeq)
  const message = items[newest]
  if (message?.runId !== id || message.role !== 'user') return []
  const last =
    content === undefined
      ? await lastOf(deps, items.slice(newest + 1), chat.agentId)
      : lastMessageOf(run, { ...message, content })
  return [{ type: 'chat.last', sessionId, from: chat.lastSeq, last }]
}

async function lastOf({ runs }: NewestMessageDeps, messages: readonly MessageRecord[], agentId: string) {
  const ids = new Set(messages.flatMap(({ runId }) => runId ?? []))
  const withdrawn = await withdrawnAmong(runs, ids)
  for (const message of messages) {
    if (message.runId === undefined || withdrawn.has(message.runId)) continue
    const run = await runs.find(message.runId, EVERY_ROW)
    if (run?.kind === 'agent' && run.targetId === agentId) return lastMessageOf(run, message)
  }
  return undefined
}

function lastMessageOf(run: RunRecord, { role, content, createdAt: at, seq }: MessageRecord) {
  const brief = briefOf(run, { role, content })
  return brief === undefined ? undefined : { role, text: brief.text, at, seq }
}
