import type { CallScope } from '../durable/call-scope.ts'
import { partId } from '../durable/create-authoring.ts'
import { writeStream } from '../durable/stream-call.ts'
import type { StreamSource } from '../durable/stream-source.ts'
import type { RunContext } from '../targets/run-context.ts'

/** Shows a stream that the code of a run returned or yielded. Resolves with the text that it said. */
export type Show = (source: StreamSource) => Promise<{ readonly text: string }>

export function createShow(scope: CallScope, emit: RunContext['emit']): Show {
  let count = 0
  return async (source) => {
    const messageId = `${partId(scope)}.stream${++count}`
    const { text } = await writeStream(scope, source, { messageId, emit })
    return { text }
  }
}
