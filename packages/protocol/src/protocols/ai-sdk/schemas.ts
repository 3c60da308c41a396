import * as v from 'valibot'
import { documented, member } from '../../documented.ts'
import { strictObject } from '../../plain-object.ts'

const UI_ROLES = ['system', 'user', 'assistant'] as const
export type UiRole = (typeof UI_ROLES)[number]

export const UiMessagePart = documented(
  v.objectWithRest(
    { type: member(v.string(), 'What the part holds, such as `text`, `file` or `dynamic-tool`.') },
    v.unknown(),
  ),
  'A part of a message in the form of the AI SDK. Its other members depend on its type.',
  { type: 'text', text: 'What is on my calendar?' },
)

const QUESTION = {
  id: 'm1',
  role: 'user' as const,
  parts: [{ type: 'text', text: 'What is on my calendar?' }],
}

export const UiMessage = documented(
  v.objectWithRest(
    {
      id: member(v.string(), 'Id of the message. The id of an answer begins with `msg_` and the id of its run.'),
      role: member(v.picklist(UI_ROLES), 'Author of the message.'),
      metadata: member(v.optional(v.unknown()), 'The run, session and usage of an answer. Absent for other messages.'),
      parts: member(v.array(UiMessagePart), 'Text, tool calls, data and files, in order.'),
    },
    v.unknown(),
  ),
  'A message of a chat in the form of the AI SDK.',
  QUESTION,
)

export const UiMessages = documented(v.array(UiMessage), 'The messages of a chat, for `useChat({ messages })`.', [
  QUESTION,
])

export const AiSdkRequest = documented(
  v.objectWithRest(
    {
      id: member(
        v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
        'The chat that the message belongs to. Without it, the chat of the newest answer in `messages`, or else that of the first message of the user.',
      ),
      messages: member(
        v.pipe(v.array(UiMessage), v.minLength(1, 'must have at least one message')),
        'All messages that the client has. The server takes only the new ones.',
      ),
      trigger: member(
        v.optional(v.picklist(['submit-message', 'regenerate-message']), 'submit-message'),
        'Whether the client sends a message or asks for another answer.',
      ),
      messageId: member(v.optional(v.string()), 'Id of the message that the request replaces.'),
    },
    v.unknown(),
  ),
  'A request of the AI SDK. Members that are not listed here reach the agent as `settings`.',
  { id: 'chat-1', messages: [QUESTION], trigger: 'submit-message' },
)

/** Without it, the server takes the version from the request, or sends only what all versions understand. */
const version = v.optional(v.picklist(['6', '7']))

export const AiSdkStreamQuery = strictObject({ v: version })

const INDEX = v.pipe(v.string(), v.regex(/^-?\d{1,15}$/, 'must be an integer'), v.transform(Number), v.number())

export const AiSdkResumeQuery = strictObject({ v: version, startIndex: v.optional(INDEX) })

export const AiSdkSocketQuery = strictObject({ ticket: v.optional(v.pipe(v.string(), v.maxLength(512))) })
