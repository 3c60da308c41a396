import { createReadChunk, createStreamWriter } from '@perdure/core'
import type { ModelContext } from './run-context.ts'

export type Part = Readonly<Record<string, unknown>>

export interface ModelName {
  readonly provider: string
  readonly modelId: string
}

/** Writes the answer of a model to the log of the run while it comes, and reports its usage at the end. */
export function createAnswerLog({ emit, usage }: Pick<ModelContext, 'emit' | 'usage'>, messageId: string) {
  const read = createReadChunk()
  const writer = createStreamWriter(messageId, (type, payload) => emit(type, payload))
  return {
    write(part: Part): void {
      // A part that reports an error is the SDK's to handle; the answer is not recorded then.
      for (const one of read(part)) writer.write(one)
    },
    async end({ provider, modelId }: ModelName): Promise<void> {
      writer.end()
      await writer.flush()
      const summary = writer.summary()
      if (summary.usage !== undefined) await usage({ provider, model: modelId, ...summary.usage })
    },
  }
}
