import type { DeliveredEvent } from '@perdure/core'
import { fromJsonText } from '@perdure/ports'
import { formatBlock } from './block.ts'
import { createRecentChunks, type RecentChunks, type RenderedChunk } from './recent-chunks.ts'
import { isLastEvent, type ProjectedEvent, type RunProjector } from './run-projector.ts'

/** What one event shows to every reader that has all earlier frames. */
export interface RenderedEvent {
  /** One block for each frame. */
  readonly blocks: readonly string[]
  /** Whether the response ends with the event. */
  readonly isLast: boolean
}

/** The frames of consecutive events. */
export interface ProjectedChunk extends RenderedChunk {
  /** Number of frames of the last event. */
  readonly place: number
  /** Whether the response ends with the last event. */
  readonly isLast: boolean
  /** How much work it is to render the chunk. */
  readonly work: number
}

/** The id of a frame: the position of its event, and its place among the frames of that event, from 1. */
export type FrameIdOf = (frame: { readonly position: number; readonly place: number }) => string | undefined

/** One reader of a run among those who get the same frames. */
export interface Seat {
  /**
   * Lets the reader use the shared rendering, if it can, in place of its own projector.
   *
   * @param position the newest event that its projector has taken
   */
  join(position: number, projector: RunProjector): boolean
  /** The rendering of the next event; `undefined` if the reader is too far behind. The reader must have joined. */
  next(event: DeliveredEvent): RenderedEvent | undefined
  /** The rendering of the events of the page from this index, if another reader has got it. The reader must have joined. */
  nextChunk(page: readonly DeliveredEvent[], start: number): ProjectedChunk | undefined
  /** Whether there are other readers. */
  hasOthers(): boolean
  /** Keeps what `next` has returned to this reader for the others. */
  keepChunk(chunk: ProjectedChunk): void
  /** The frames that end the response while the run waits; `undefined` while it stays open or has shown more than this. */
  rest(position: number): ReturnType<RunProjector['rest']>
  leave(): void
}

/** Renders the events of a run once for all readers that follow it live in the same form. */
export interface SharedProjections {
  /** @param key names the run and the form: readers with the same key get the same frames */
  enter(key: string, idOf: FrameIdOf): Seat
}

/** How much rendered text is kept for readers that are a little behind. Characters. */
const RECENT_LENGTH = 131_072

const NOTHING: RenderedEvent = { blocks: [], isLast: false }

interface Shared {
  seats: number
  projector: RunProjector | undefined
  position: number
  /** The frames that ended the responses. To make them can change the projector, so it takes no event afterwards. */
  closing: ReturnType<RunProjector['rest']>
  readonly recent: Map<number, RenderedEvent>
  recentLength: number
  readonly chunks: RecentChunks<ProjectedChunk>
}

export function createSharedProjections(): SharedProjections {
  const byKey = new Map<string, Shared>()

  const keep = (shared: Shared, position: number, rendered: RenderedEvent) => {
    if (shared.seats < 2) {
      // The only reader has everything.
      shared.recent.clear()
      shared.recentLength = 0
      shared.chunks.clear()
      return
    }
    shared.recent.set(position, rendered)
    shared.recentLength += lengthOf(rendered)
    for (const [oldest, one] of shared.recent) {
      if (shared.recentLength <= RECENT_LENGTH) return
      shared.recent.delete(oldest)
      shared.recentLength -= lengthOf(one)
    }
  }

  const render = (projector: RunProjector, { position, type, envelope }: DeliveredEvent, idOf: FrameIdOf) => {
    if (projector.needs?.(type) === false) return NOTHING
    const frames = projector.next(fromJsonText(envelope) as ProjectedEvent)
    const blocks = frames.map((frame, index) => formatBlock({ ...frame, id: idOf({ position, place: index + 1 }) }))
    return { blocks, isLast: isLastEvent(projector, type) }
  }

  return {
    enter(key, idOf) {
      const shared = byKey.get(key) ?? emptyProjection()
      byKey.set(key, shared)
      shared.seats += 1
      let position = 0
      const forget = () => {
        if (byKey.get(key) === shared) byKey.delete(key)
      }

      return {
        join(reached, projector) {
          if (shared.projector === undefined) {
            shared.projector = projector
            shared.position = reached
          }
          if (shared.position !== reached && !shared.recent.has(reached)) return false
          position = reached
          return true
        },
        next(event) {
          const { projector } = shared
          if (projector === undefined) return undefined
          const known = shared.recent.get(event.position)
          const isNext = position === shared.position && shared.closing === undefined
          if (known === undefined && !isNext) return undefined
          position = event.position
          if (known !== undefined) return known
          shared.position = position
          const rendered = render(projector, event, idOf)
          keep(shared, position, rendered)
          return rendered
        },
        nextChunk(page, start) {
          const chunk = shared.chunks.find(page, start)
          if (chunk !== undefined) position = chunk.last
          return chunk
        },
        hasOthers: () => shared.seats > 1,
        keepChunk: shared.chunks.keep,
        rest(reached) {
          if (reached !== shared.position) return undefined
          shared.closing ??= shared.projector?.rest()
          if (shared.closing !== undefined) forget()
          return shared.closing
        },
        leave() {
          shared.seats -= 1
          if (shared.seats < 2) shared.chunks.clear()
          if (shared.seats === 0) forget()
        },
      }
    },
  }
}

const emptyProjection = (): Shared => ({
  ...{ seats: 0, projector: undefined, position: 0, closing: undefined },
  ...{ recent: new Map(), recentLength: 0, chunks: createRecentChunks() },
})

/** What keeping a rendered event costs, in characters. */
const lengthOf = ({ blocks }: RenderedEvent): number =>
  blocks.reduce((length, block) => length + block.length, ENTRY_LENGTH)

const ENTRY_LENGTH = 100
