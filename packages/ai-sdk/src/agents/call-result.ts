import { type OwnResult, withOwnResult } from '@perdure/core'
import { isObject, type Options } from '../sdk.ts'

interface Streamed {
  readonly fullStream?: AsyncIterable<Options>
  readonly stream?: AsyncIterable<Options>
  readonly text: PromiseLike<string>
  readonly output?: PromiseLike<unknown>
  readonly experimental_output?: PromiseLike<unknown>
}

interface ResultOptions {
  /** Whether the call asks for an object. */
  readonly hasOutput: boolean
  readonly withoutText: boolean
}

/** A run that returns the stream completes with the text of its last step, or with its object. */
export function streamedResult<T extends object>(given: T, { hasOutput, withoutText }: ResultOptions): T {
  const streamed = given as unknown as Streamed
  const own: OwnResult = async (show) => {
    const source = streamed.fullStream ?? streamed.stream
    if (source !== undefined) await (withoutText ? show(source) : drained(source))
    return hasOutput ? asResult(await (streamed.output ?? streamed.experimental_output)) : { text: await streamed.text }
  }
  return withOwnResult(given, own)
}

/** A run that returns the answer completes with the text of its last step, or with its object. */
export function generatedResult<T extends object>(given: T, { hasOutput }: Pick<ResultOptions, 'hasOutput'>): T {
  const generated = given as Options
  // The SDK throws when the output of an answer that has none is read.
  const own: OwnResult = async () =>
    hasOutput ? asResult(generated.output ?? generated.experimental_output) : { text: generated.text }
  return withOwnResult(given, own)
}

const asResult = (output: unknown): unknown => (typeof output === 'string' ? { text: output } : output)

/** @throws what the stream reports as an error */
async function drained(source: AsyncIterable<Options>): Promise<void> {
  for await (const { type, error, reason } of source) {
    if (type === 'error') throw error
    if (type === 'abort') throw isObject(reason) ? reason : new Error(`the call was aborted: ${reason ?? 'no reason'}`)
  }
}

export const hasOutput = ({ output, experimental_output }: Options): boolean =>
  output !== undefined || experimental_output !== undefined
