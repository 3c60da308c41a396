import type { StoredEvent, TailedCommits, TailedEvent } from '@perdure/ports'
import { signalOf } from './signal-events.ts'

/** Puts own commits and events that were read from the log into one order. */
export interface TailBuffer {
  /** Every event up to this position is known. */
  through(): number
  /** Adds a commit of this process. Returns false if events before it are unknown: they have to be read. */
  addOwn(events: readonly StoredEvent[]): boolean
  /** Adds all events of the log behind `through`, up to the last one given. */
  addRead(events: readonly TailedEvent[]): void
  /** Returns the known events that were not taken before. */
  take(): TailedCommits
  /** Like `take`, but stops at the first event of another process. */
  takeOwn(): TailedCommits
  /** Drops what was not taken. The next event comes after this position. */
  restart(position: number): void
}

interface Span {
  readonly from: number
  readonly to: number
}

export function createTailBuffer(position: number): TailBuffer {
  let through = position
  let waiting: TailedEvent[] = []
  /** Positions of own commits that were not taken yet. */
  let own: Span[] = []

  const push = (events: readonly TailedEvent[]) => {
    for (const event of events) {
      if (event.position <= through) continue
      waiting.push(event)
      through = event.position
    }
  }

  const isOwn = ({ position: at }: TailedEvent) => own.some(({ from, to }) => from <= at && at <= to)

  const takeFirst = (count: number): TailedCommits => {
    const events = waiting.slice(0, count)
    waiting = waiting.slice(count)
    const foreign = events.filter((event) => !isOwn(event))
    const taken = (waiting[0]?.position ?? through + 1) - 1
    own = own.filter(({ to }) => to > taken)
    return { events, foreign, signals: foreign.flatMap((event) => signalOf(event) ?? []) }
  }

  return {
    through: () => through,
    addOwn(events) {
      const from = events[0]?.position ?? 0
      const to = events.at(-1)?.position ?? 0
      own.push({ from, to })
      const isNext = from <= through + 1
      if (isNext) push(events)
      return isNext
    },
    addRead: push,
    take: () => takeFirst(waiting.length),
    takeOwn() {
      const firstForeign = waiting.findIndex((event) => !isOwn(event))
      return takeFirst(firstForeign === -1 ? waiting.length : firstForeign)
    },
    restart(next) {
      through = Math.max(through, next)
      waiting = []
      own = own.filter(({ to }) => to > through)
    },
  }
}
