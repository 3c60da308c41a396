import type { LogFollower, LogTail, StoredEvent, TailedCommits } from '@perdure/ports'
import { createTailBuffer } from './tail-buffer.ts'
import { createTailLink, type TailLinkOptions } from './tail-link.ts'
import { readHead, readIsAlone, readTail, TAIL_LIMIT } from './tail-rows.ts'

export interface TailOptions extends Omit<TailLinkOptions, 'onHint' | 'onListening'> {
  /** The position of the newest event at the start. */
  readonly knownPosition: number
  /** Resolves when the transaction that this process is committing now has been answered. Never rejects. */
  readonly underWay: () => Promise<unknown>
}

/** The tail, as the host feeds it. */
export interface OwnTail extends LogTail {
  /** Must be called for each commit of this process, in their order, before it is answered. */
  committed(events: readonly StoredEvent[]): void
  close(): Promise<void>
}

const EVERY_MS = 500
/** While a caller waits for commits of other processes, and the process receives no notifications. */
const EVERY_MS_WITHOUT_HINTS = 50
const MAX_BACKOFF_MS = 1_000
/** How often the tail counts the processes, because notifications are for others. */
const COUNT_EVERY_MS = 2_000
const CURRENT_MS = 1_000
/** With more unread events, the tail skips them. */
const MAX_BEHIND = 5_000

export function createTail({ knownPosition, underWay, ...linked }: TailOptions): OwnTail {
  const buffer = createTailBuffer(knownPosition)
  const link = createTailLink({
    ...linked,
    onHint(position) {
      if (position > buffer.through()) wake()
    },
    onListening: () => wake(),
  })
  let follower: LogFollower | undefined
  let isAlone = false
  let countedAt = Number.NEGATIVE_INFINITY
  let isHolding = false
  let isWanted = false
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let isClosed = false
  let reachedAt = performance.now()

  const deliver = (commits: TailedCommits) => {
    if (commits.events.length > 0) follower?.deliver(commits)
  }

  /**
   * An event that was read may depend on a commit of this process that the server has applied but not yet answered. Its
   * caller must continue first.
   */
  const untilAnswered = async () => {
    isHolding = true
    await underWay()
    await new Promise<void>((resolve) => setImmediate(resolve))
    isHolding = false
  }

  /** Reads on. Returns whether there may be more. */
  const read = async (following: LogFollower): Promise<boolean> => {
    const startedAt = performance.now()
    const after = buffer.through()
    const events = await link.use((db) => readTail(db, { after, watched: following.watched() }))
    buffer.addRead(events)
    const isPart = events.length === TAIL_LIMIT
    const head = isPart ? await link.use(readHead) : 0
    if (events.length > 0) await untilAnswered()
    if (head - buffer.through() > MAX_BEHIND) {
      buffer.restart(head)
      following.skip(head)
    } else deliver(buffer.take())
    if (!isPart) reachedAt = startedAt
    return isPart
  }

  const work = async (following: LogFollower): Promise<void> => {
    try {
      do {
        isWanted = false
        if (await read(following)) isWanted = true
      } while (isWanted && !isClosed)
      failures = 0
    } catch {
      failures++
    }
    working = undefined
    if (!isClosed) timer = setTimeout(poll, pauseMs(following))
  }

  const pauseMs = (following: LogFollower): number => {
    if (failures > 0) return Math.min(MAX_BACKOFF_MS, EVERY_MS_WITHOUT_HINTS * 2 ** (failures - 1))
    return link.isListening() || !following.isWaiting() ? EVERY_MS : EVERY_MS_WITHOUT_HINTS
  }

  const wake = () => {
    if (follower === undefined || isClosed) return
    isWanted = true
    if (working !== undefined) return
    clearTimeout(timer)
    working = work(follower)
  }

  const poll = () => {
    if (performance.now() - countedAt >= COUNT_EVERY_MS) count()
    wake()
  }

  const count = () => {
    countedAt = performance.now()
    void link.use(readIsAlone).then(
      (answer) => {
        isAlone = answer
      },
      () => undefined,
    )
  }

  return {
    follow(given) {
      follower = given
      poll()
    },
    state() {
      const lagMs = performance.now() - reachedAt
      return { isCurrent: lagMs < CURRENT_MS, lagMs, isListening: link.isListening() }
    },
    committed(events) {
      const last = events.at(-1)
      if (last === undefined) return
      if (follower === undefined) return buffer.restart(last.position)
      if (!isAlone) link.hint(last.position)
      if (!buffer.addOwn(events)) wake()
      else deliver(isHolding ? buffer.takeOwn() : buffer.take())
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await link.close()
      await working
    },
  }
}
