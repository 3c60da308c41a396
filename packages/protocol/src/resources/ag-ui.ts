import * as v from 'valibot'

export const AgUiMessage = v.objectWithRest(
  {
    id: v.string(),
    role: v.string(),
    content: v.optional(v.unknown()),
  },
  v.unknown(),
)

/** An answer to an interrupt. */
export const AgUiResume = v.objectWithRest(
  {
    interruptId: v.string(),
    status: v.picklist(['resolved', 'cancelled']),
    payload: v.optional(v.unknown()),
  },
  v.unknown(),
)

const ClientId = v.pipe(v.string(), v.minLength(1), v.maxLength(512))

/** What an AG-UI client sends to run an agent. Members that are not listed are ignored. */
export const AgUiRequest = v.objectWithRest(
  {
    threadId: ClientId,
    runId: ClientId,
    protocolVersion: v.optional(v.string()),
    messages: v.optional(v.array(AgUiMessage), []),
    state: v.optional(v.unknown()),
    tools: v.optional(v.array(v.unknown())),
    context: v.optional(v.array(v.unknown())),
    forwardedProps: v.optional(v.unknown()),
    resume: v.optional(v.array(AgUiResume)),
  },
  v.unknown(),
)

/** By area, what a client can use. */
export const AgUiCapabilities = v.record(v.string(), v.record(v.string(), v.boolean()))
