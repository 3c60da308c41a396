import type { StreamSource } from '../model-parts/stream-source.ts'

/** Shows a stream, and resolves with its text. */
type Show = (source: StreamSource) => Promise<{ readonly text: string }>

/** Resolves with the result of the run that returns a value. */
export type OwnResult = (show: Show) => PromiseLike<unknown>

/** A registered symbol, because the value can come from another copy of this package. */
const RESULT = Symbol.for('perdure.result')

/** Determines the result of a run that returns this value. */
export function withOwnResult<T extends object>(value: T, result: OwnResult): T {
  return Object.defineProperty(value, RESULT, { value: result, configurable: true })
}

/** How the value becomes the result of the run, if it says so. */
export function ownResultOf(value: unknown): OwnResult | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as { readonly [RESULT]?: OwnResult })[RESULT]
}
