import type { TakenMessage } from '../durable/service-caller.ts'
import { partsOfInput } from './answer-parts.ts'
import type { SessionMessage } from './session-message.ts'

/** A message that the run has taken while it worked. */
export const takenMessage = (runId: string, { from, content, createdAt }: TakenMessage): SessionMessage => ({
  ...{ id: `${from}.user`, role: 'user', content, parts: partsOfInput(content), runId, createdAt },
})
