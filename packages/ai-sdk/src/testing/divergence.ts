import type { RequestPart } from '@perdure/core'

/** The first place where code asks for something else than its recorded run. */
export interface RunDivergence {
  /** The number of the recorded call; missing behind the last one. */
  readonly seq?: number
  /** What differs: a part of the request to a model, the order of the calls, or a call of a tool. */
  readonly part: RequestPart | 'order' | 'end' | 'tool call' | 'arguments' | 'result'
  /** Says what differs, such as `message 2 (user)`. */
  readonly detail: string
}

/**
 * What follows a divergence: `stop` fails the call, `real` asks the real model or runs the real tool, and `stub` answers
 * with the given stub.
 */
export type OnDivergence = 'stop' | 'real' | 'stub'

export interface DivergenceOptions {
  /** Default `stop`. */
  readonly onDivergence?: OnDivergence
  /** Called with each divergence. */
  readonly onDiverged?: (divergence: RunDivergence) => void
}

/** The error of a call that diverges from its recording. */
export function divergenceError(divergence: RunDivergence): Error {
  const { seq, part, detail } = divergence
  const place = seq === undefined ? 'after the last recorded call' : `at the recorded call ${seq}`
  const message = `the run diverges from its recording ${place}: ${part}: ${detail}`
  return Object.assign(new Error(message), { name: 'DivergenceError', divergence })
}
