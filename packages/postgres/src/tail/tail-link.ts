import { type Connection, createConnection, type QueryCache } from '../connection/connection.ts'
import type { Session } from '../connection/session.ts'

export interface TailLinkOptions {
  readonly cache: QueryCache
  /** Opens a connection that reports notifications. */
  readonly open: (onNotification: (payload: string) => void) => Promise<Session>
  readonly channel: string
  /** Whether to listen. If not, the log is only read at intervals. */
  readonly listens: boolean
  /** Called when another process announces that the log reaches this position. */
  readonly onHint: (position: number) => void
  /** Called when the connection listens. It has missed all earlier notifications. */
  readonly onListening: () => void
}

/** The connection that follows the log. */
export interface TailLink {
  /** Runs queries; opens the connection if it was lost. */
  use<T>(work: (db: Connection) => Promise<T>): Promise<T>
  /** Announces that the log reaches this position. Hints in quick succession are sent as one. */
  hint(position: number): void
  /** Whether a notification has arrived on this connection. A connection pooler may swallow all of them. */
  isListening(): boolean
  close(): Promise<void>
}

const HINT_EVERY_MS = 5

/** No position: the notification that a connection sends to itself. */
const ECHO = '0'

export function createTailLink(options: TailLinkOptions): TailLink {
  const { cache, open, channel, listens, onHint, onListening } = options
  let session: Session | undefined
  let opening: Promise<Session> | undefined
  let isListening = false
  let isClosed = false
  let pause: NodeJS.Timeout | undefined
  let newest = 0
  let announced = 0

  const connect = async (): Promise<Session> => {
    const opened = await open((payload) => {
      if (opened !== session) return
      isListening = true
      if (payload === ECHO) onListening()
      else onHint(Number(payload))
    })
    try {
      // A lost hint delays a reader by a moment, so it need not be flushed.
      await opened.execute({ text: 'set synchronous_commit to off', values: [] })
      if (listens) await opened.execute({ text: `listen "${channel}"`, values: [] })
      if (isClosed) throw new Error('the tail is closed')
    } catch (error) {
      await opened.close()
      throw error
    }
    session = opened
    if (listens) void notify(opened, ECHO).catch(() => undefined)
    return opened
  }

  const notify = (to: Session, payload: string) =>
    to.execute({ name: 'notify', text: 'select pg_notify($1, $2)', values: [channel, payload] })

  const current = async (): Promise<Session> => {
    if (session !== undefined && !session.isLost()) return session
    isListening = false
    opening ??= connect().finally(() => {
      opening = undefined
    })
    return opening
  }

  /** After an error the connection may be half dead: the next use opens another. */
  const drop = (failed: Session) => {
    if (session === failed) session = undefined
    void failed.close()
  }

  const announce = async () => {
    announced = newest
    const payload = String(newest)
    try {
      await notify(await current(), payload)
    } catch {
      // Other processes read the log at intervals as well.
    }
  }

  const hint = (position: number) => {
    newest = Math.max(newest, position)
    if (pause !== undefined || isClosed || newest === announced) return
    void announce()
    pause = setTimeout(() => {
      pause = undefined
      hint(newest)
    }, HINT_EVERY_MS)
  }

  return {
    async use(work) {
      const used = await current()
      try {
        return await work(createConnection(used.execute, cache))
      } catch (error) {
        drop(used)
        throw error
      }
    },
    hint,
    isListening: () => isListening,
    async close() {
      isClosed = true
      clearTimeout(pause)
      await opening?.catch(() => undefined)
      await session?.close()
    },
  }
}
