import type { LogEvent } from '@perdure/core'
import { beginLog, type RunLogDeps, readLog } from '../chat/run-log.ts'
import type { Frame, Projector } from '../projection.ts'
import { DONE, toFrame } from './chunk.ts'

/** The event with which a response begins. */
export type ResponseStart = 'first' | ((event: LogEvent) => boolean)

export interface ChunkRange {
  readonly start: ResponseStart
  /** The index of the first chunk that the client does not have. */
  readonly from: number
}

const FINISH: Frame = toFrame({ type: 'finish' })

/**
 * Numbers the chunks of a response from 0, the chunk that opens it, and marks those before `from` as received. A client
 * that has all chunks of a response that has ended gets `finish`: it would ask again for a response that ends without
 * one, such as that of an aborted run.
 */
export function withChunkIndex(
  projector: Projector,
  { start, from }: ChunkRange,
): Projector & { readonly count: () => number } {
  let hasBegun = false
  let index = 0

  const begin = () => {
    if (hasBegun) return
    hasBegun = true
    index = 1
  }

  const mark = (frame: Frame): readonly Frame[] => {
    if (!hasBegun) return [frame]
    if (frame === DONE) return index <= from ? [FINISH, frame] : [frame]
    index += 1
    return [index <= from ? { ...frame, isReceived: true } : frame]
  }

  return {
    ...projector,
    next(event) {
      const frames = projector.next(event)
      if (start === 'first' || start(event)) begin()
      return frames.flatMap(mark)
    },
    opening(of) {
      begin()
      const frames = projector.opening(of)
      return of === 'rest' && from > 0 ? [] : frames
    },
    rest: () => projector.rest()?.flatMap(mark),
    /** How many chunks the response has so far. */
    count: () => index,
  }
}

/** How many chunks a response of the run has so far. */
export async function countChunks(
  deps: RunLogDeps,
  run: Parameters<typeof readLog>[1],
  { projector, start }: { readonly projector: Projector; readonly start: ResponseStart },
): Promise<number> {
  const counted = withChunkIndex(projector, { start, from: 0 })
  await readLog(deps, run, await beginLog(deps, run), (event) => void counted.next(event))
  counted.rest()
  return Math.max(1, counted.count())
}
