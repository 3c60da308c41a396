import type { RegistrationOptions } from '@perdure/core'
import { isObject } from '../sdk.ts'
import type { ChatAgentInput } from './chat-types.ts'
import { type Issue, readMessage } from './sent-message.ts'

/** Accepts what a chat sends, a text, and an object with a text. Messages of the model and of a page become those of a chat. */
export const chatInput: NonNullable<RegistrationOptions<ChatAgentInput, unknown, string, ChatAgentInput>['input']> = {
  '~standard': {
    version: 1,
    vendor: 'perdure',
    validate(value) {
      if (isObject(value) && Array.isArray(value.messages)) {
        const issues: Issue[] = []
        const messages = value.messages.map((message, index) => readMessage(message, ['messages', index], issues))
        return issues.length === 0 ? { value: { ...value, messages } as ChatAgentInput } : { issues }
      }
      if (typeof value === 'string' || (isObject(value) && typeof value.text === 'string')) {
        return { value: value as ChatAgentInput }
      }
      return { issues: [{ message: 'send a text, { "text": "…" } or { "messages": […] }' }] }
    },
  },
}
