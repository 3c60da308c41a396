import type { RegistrationOptions } from '@perdure/core'
import { isObject } from '../sdk.ts'
import type { ChatAgentInput } from './chat-types.ts'

/** Accepts what a chat sends, a text, and an object with a text. */
export const chatInput: NonNullable<RegistrationOptions<ChatAgentInput, unknown, string, ChatAgentInput>['input']> = {
  '~standard': {
    version: 1,
    vendor: 'perdure',
    validate(value) {
      const isChat = isObject(value) && (Array.isArray(value.messages) || typeof value.text === 'string')
      if (typeof value === 'string' || isChat) return { value: value as ChatAgentInput }
      return { issues: [{ message: 'send a text, { "text": "…" } or { "messages": […] }' }] }
    },
  },
}
