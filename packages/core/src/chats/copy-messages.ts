import {
  EVERY_ROW,
  type FileStore,
  type IdGenerator,
  type MessageRecord,
  type SessionStore,
  type Write,
} from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'
import { briefOf } from '../sessions/message-brief.ts'
import type { TurnCopy } from './copy-turns.ts'
import { MAX_COPIED_LENGTH } from './turns-to-copy.ts'

export interface CopyMessagesDeps {
  readonly sessions: Pick<SessionStore, 'messages'>
  readonly files: Pick<FileStore, 'list'>
  readonly ids: IdGenerator
}

export type AppendedMessage = Extract<Write, { readonly type: 'message.append' }>

interface Sessions {
  readonly from: string
  readonly to: string
}

/** The messages of the copied turns in the transcript, oldest first. */
export async function copyMessages(
  { sessions, ids }: CopyMessagesDeps,
  copies: readonly TurnCopy[],
  { from, to }: Sessions,
): Promise<readonly AppendedMessage[]> {
  const copyOf = new Map(copies.map((copy) => [copy.from.id, copy]))
  const rows = await rowsOf(sessions, from, copies)
  const lastAnswer = rows.findLast(({ role }) => role === 'assistant')
  return rows.flatMap((row): readonly AppendedMessage[] => {
    const copy = copyOf.get(row.runId ?? '')
    if (copy === undefined) return []
    const { role, content, createdAt } = row
    const message = { id: ids.newId('message'), sessionId: to, role, content, runId: copy.run.id, createdAt }
    const isShown = row === lastAnswer || row === rows.at(-1)
    return [{ type: 'message.append', message, ...(isShown ? { brief: briefOf(copy.run, message) } : {}) }]
  })
}

async function rowsOf(
  sessions: Pick<SessionStore, 'messages'>,
  sessionId: string,
  copies: readonly TurnCopy[],
): Promise<readonly MessageRecord[]> {
  const copied = new Set(copies.map(({ from }) => from.id))
  const since = copies[0]?.from.createdAt ?? 0
  const rows: MessageRecord[] = []
  let length = 0
  for await (const row of eachItem((cursor) => sessions.messages(sessionId, { limit: 100, order: 'desc', cursor }))) {
    length += row.content.length
    if (row.createdAt < since || length > 2 * MAX_COPIED_LENGTH) break
    if (copied.has(row.runId ?? '')) rows.push(row)
  }
  return rows.reverse()
}

/** Lets the copy hold the files that its turns show, so that they stay until both chats are gone. */
export async function holdFiles(
  { files }: CopyMessagesDeps,
  copies: readonly TurnCopy[],
  { from, to, owner }: Sessions & { readonly owner: string },
): Promise<readonly Write[]> {
  const shown: string[] = []
  const read = (cursor?: string) => files.list({ sessionId: from }, { limit: 200, order: 'asc', cursor }, EVERY_ROW)
  for await (const file of eachItem(read)) {
    if (file.owner === owner && copies.some((copy) => shows(copy, file.id))) shown.push(file.id)
  }
  return shown.length === 0 ? [] : [{ type: 'file.hold', sessionId: to, ids: shown, owner }]
}

/** Lets each copied run keep the files of the owner that its events name: its source holds those with long results, not the session. */
export const keepFiles = (copies: readonly TurnCopy[], owner: string): readonly Write[] =>
  copies.flatMap(({ run, events }): readonly Write[] => {
    const ids = [...new Set(events.flatMap(({ payload }) => payload.match(FILE_IDS) ?? []))]
    return ids.length === 0 ? [] : [{ type: 'file.keep', runId: run.id, ids, owner }]
  })

const FILE_IDS = /file_[0-9A-HJKMNP-TV-Z]{26}/g

const shows = ({ run: { input, result }, events }: TurnCopy, fileId: string): boolean =>
  [input, result, ...events.map(({ payload }) => payload)].some((text) => text?.includes(fileId) === true)
