import { type EventLog, fromJsonText, type JsonText, toJsonText } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { createLruList, type LruNode } from '../realtime/lru-list.ts'
import { type ReadTurn, readTurn, type TurnMessages, type TurnRun } from './turn-messages.ts'

/** As `readTurn`. */
export type TurnReader = (run: TurnRun, how: ReadTurn) => Promise<TurnMessages | undefined>

/** A turn that has ended, as text: whoever gets its messages may change them. */
interface Kept extends LruNode<Kept> {
  readonly key: string
  readonly last: number
  readonly text: JsonText
}

/** The last event of a turn, and one that may follow it. */
const CHECK = { limit: 2, maxLength: 64 * 1_024 } as const

/** The text of all turns together. */
const MAX_LENGTH = 2 * 1_024 * 1_024

/**
 * Reads turns, and keeps the messages of those that have ended, because every turn of a conversation reads the turns before it. A turn
 * that has got another event since is read again.
 */
export function createTurnReader(events: Pick<EventLog, 'read'>, maxLength = MAX_LENGTH): TurnReader {
  const kept = new Map<string, Kept>()
  const order = createLruList<Kept>()
  let length = 0

  const evict = (one: Kept) => {
    kept.delete(one.key)
    order.remove(one)
    length -= one.text.length
  }

  const keep = (key: string, turn: TurnMessages) => {
    const text = toJsonText(turn)
    if (text.length > maxLength) return
    const known = kept.get(key)
    if (known !== undefined) evict(known)
    const one: Kept = { key, last: turn.last, text, older: undefined, newer: undefined }
    kept.set(key, one)
    order.touch(one)
    length += text.length
    for (let oldest = order.oldest(); length > maxLength && oldest !== undefined; oldest = order.oldest()) evict(oldest)
  }

  const isCurrent = async ({ last }: Kept, { id }: TurnRun, through: number): Promise<boolean> => {
    if (last > through) return false
    const [own, next] = await events.read({ runId: id }, { after: Math.max(0, last - 1), ...CHECK })
    // Retention deletes the events of a turn, which the conversation then no longer shows.
    if (last > 0 && own?.position !== last) return false
    const newer = last > 0 ? next : own
    if (next === undefined && own !== undefined && own.payload.length >= CHECK.maxLength) return false
    return newer === undefined || newer.position > through
  }

  return async (run, how) => {
    if (!isTerminal(run.status)) return readTurn(events, run, how)
    const key = keyOf(run, how)
    const known = kept.get(key)
    if (known !== undefined && (await isCurrent(known, run, how.through))) {
      order.touch(known)
      const turn = fromJsonText(known.text) as TurnMessages
      return turn.length > how.maxLength ? undefined : turn
    }
    const turn = await readTurn(events, run, how)
    if (turn !== undefined) keep(key, turn)
    return turn
  }
}

const keyOf = ({ id, attempt, completedAt }: TurnRun, { epoch, isCompacted }: ReadTurn): string =>
  JSON.stringify([id, attempt, completedAt, epoch, isCompacted])
