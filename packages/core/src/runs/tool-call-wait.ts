import type { StepRecord } from '@perdure/ports'

/** No event of the API has a colon in its name, so an emitted event never ends such a wait. */
const PREFIX = 'tool:'

/** The event name of the wait of a tool call, either for its result from the client or for its approval. */
export const toolCallWait = (toolCallId: string): string => `${PREFIX}${toolCallId}`

/** The id of the tool call that waits; `undefined` for any other record, and for approvals that older versions recorded. */
export const waitingToolCallId = ({ eventName }: Pick<StepRecord, 'eventName'>): string | undefined =>
  eventName?.startsWith(PREFIX) ? eventName.slice(PREFIX.length) : undefined

/** The id of the client's tool call that the record waits for; `undefined` for a durable call of another kind. */
export const clientToolCallId = (step: Pick<StepRecord, 'kind' | 'eventName'>): string | undefined =>
  step.kind === 'client-tool' ? waitingToolCallId(step) : undefined
