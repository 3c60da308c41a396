interface Pace {
  readonly perSecond: number
  readonly durationMs: number
}

/**
 * The monotonic clock, which all processes of the machine share. `performance.timeOrigin` can differ between processes by
 * milliseconds.
 */
export const microsNow = (): number => Number(process.hrtime.bigint() / 1_000n)

/** Stands before the time of a word, which ends with a space. */
export const TIME_MARK = '@'

/**
 * Yields text deltas at a fixed rate, as a model streams. Each is a word with the time of its emit, so that a reader can
 * also measure words whose deltas a server has merged. Every wait ends at a time counted from the start, so a late timer
 * does not delay the deltas after it.
 */
export async function* pacedDeltas({ perSecond, durationMs }: Pace) {
  const startedAt = performance.now()
  const events = (perSecond * durationMs) / 1_000
  for (let index = 0; index < events; index++) {
    const waitMs = startedAt + (index * 1_000) / perSecond - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    yield { type: 'text.delta', payload: { delta: `word ${index} ${TIME_MARK}${microsNow()} ` } }
  }
  return { events }
}
