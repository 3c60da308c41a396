import type { StepRecord } from '@perdure/ports'

/** No event of the API has a colon in its name, so an emitted event never ends such a wait. */
const PREFIX = 'tool:'

/** What a call of a client tool waits for, as its record stores it. */
export const clientToolWait = (toolCallId: string): string => `${PREFIX}${toolCallId}`

/** The id of the tool call that the record waits for; `undefined` for a durable call of another kind. */
export const clientToolCallId = ({ kind, eventName }: Pick<StepRecord, 'kind' | 'eventName'>): string | undefined =>
  kind === 'client-tool' && eventName?.startsWith(PREFIX) ? eventName.slice(PREFIX.length) : undefined
