/** No block is ready. */
export const WAITING = Symbol('waiting')
/** There will be no more blocks. */
export const ENDED = Symbol('ended')

/** One or more whole blocks, or why there is none. */
export type NextBlocks = string | typeof WAITING | typeof ENDED

/** The blocks of one event stream, in order. */
export interface BlockSource {
  /** Must not be called again before a promise that it returned has settled. */
  next(): NextBlocks | Promise<NextBlocks>
  /** Releases what the source holds. Called once, also when the source has ended by itself. */
  close(): void
}

/** Takes blocks from a generator, whose `finally` blocks run when the source is closed. */
export function fromGenerator(
  blocks: AsyncGenerator<string, void, void>,
  onFailed: (error: unknown) => void,
): BlockSource {
  return {
    next: () => blocks.next().then(({ done, value }) => (done === true ? ENDED : (value as string))),
    close: () => void blocks.return().catch(onFailed),
  }
}
