import { fromJsonText, type RunRecord } from '@perdure/ports'
import { partsOfInput } from './answer-parts.ts'
import type { SessionMessage } from './session-message.ts'

/** The context of a run has under this key what the run was asked, for the packages of the SDKs. */
export const OWN_QUESTION: unique symbol = Symbol.for('perdure.own-question') as never

/** The input of the run as a message, whether or not the run has a session. */
export function ownQuestion({
  id: runId,
  input,
  createdAt,
}: Pick<RunRecord, 'id' | 'input' | 'createdAt'>): SessionMessage {
  const content: unknown = fromJsonText(input)
  return {
    ...{ id: `${runId}.user`, role: 'user', content, parts: partsOfInput(content), runId },
    createdAt: new Date(createdAt).toISOString(),
  }
}

export const questionOf = (context: object): SessionMessage | undefined =>
  (context as { readonly [OWN_QUESTION]?: SessionMessage })[OWN_QUESTION]
