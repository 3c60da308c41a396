import * as v from 'valibot'
import { strictObject } from '../plain-object.ts'

/** A part of a UI message. Its members depend on its type. */
export const UiMessagePart = v.objectWithRest({ type: v.string() }, v.unknown())

/** A message as the AI SDK holds it. */
export const UiMessage = v.objectWithRest(
  {
    id: v.string(),
    role: v.picklist(['system', 'user', 'assistant']),
    metadata: v.optional(v.unknown()),
    parts: v.array(UiMessagePart),
  },
  v.unknown(),
)

export const UiMessages = v.array(UiMessage)

/** What `DefaultChatTransport` sends. Other members are the settings of the application. */
export const AiSdkRequest = v.objectWithRest(
  {
    id: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
    messages: v.pipe(v.array(UiMessage), v.minLength(1, 'must have at least one message')),
    trigger: v.optional(v.picklist(['submit-message', 'regenerate-message']), 'submit-message'),
    messageId: v.optional(v.string()),
  },
  v.unknown(),
)

export const AiSdkStreamQuery = strictObject({
  v: v.optional(v.picklist(['6', '7']), '6'),
})
