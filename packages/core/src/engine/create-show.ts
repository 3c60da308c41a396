import type { CallScope } from '../durable/call-scope.ts'
import { partId } from '../durable/create-authoring.ts'
import { ownResultOf } from '../durable/own-result.ts'
import { writeStream } from '../durable/stream-call.ts'
import { isStreamSource, type StreamSource } from '../model-parts/stream-source.ts'
import type { RunContext } from '../targets/run-context.ts'

/** Shows a stream that the code of a run returned or yielded. Resolves with the text that it said. */
export interface Show {
  (source: StreamSource): Promise<{ readonly text: string }>
  /** The result of the run when its code returns this value, which is shown if it streams. */
  returned(value: unknown): Promise<unknown>
}

export function createShow(scope: CallScope, emit: RunContext['emit']): Show {
  let count = 0
  const write = async (source: StreamSource) => {
    const messageId = `${partId(scope)}.stream${++count}`
    const { text } = await writeStream(scope, source, { messageId, emit })
    return { text }
  }
  const show = async (source: StreamSource) => {
    const own = ownResultOf(source)
    if (own === undefined) return write(source)
    await own(write)
    return { text: '' }
  }
  return Object.assign(show, {
    async returned(value: unknown) {
      const own = ownResultOf(value)
      if (own !== undefined) return own(write)
      return isStreamSource(value) ? write(value) : value
    },
  })
}
