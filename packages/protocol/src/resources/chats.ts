import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { APPROVAL_ID, RUN_ID } from './example-ids.ts'
import { WaitingFor } from './run-outcome.ts'
import { MessageRole } from './sessions.ts'

const ChatTitle = v.pipe(v.string(), v.trim(), v.minLength(1, 'must have a character'), v.maxLength(512))

/** Ids of this form name runs. A client that follows a run by its id sends it where others send the id of a chat. */
export const RUN_ID_PREFIX = 'run_'

const UNREACHABLE_ID_PROBLEM = 'must not be "." or "..", which the path of a URL cannot hold'

const NEW_CHAT_ID_PROBLEM = `must not begin with ${RUN_ID_PREFIX}, which is the form of the ids of runs`

/** A URL cannot hold these as segments of its path: every client removes them. */
const UNREACHABLE: readonly string[] = ['.', '..']

/** Why a client may not choose this id for a chat, a thread or a conversation; `undefined` if it may. */
export const newChatIdProblem = (id: string): string | undefined =>
  id.startsWith(RUN_ID_PREFIX) ? NEW_CHAT_ID_PROBLEM : UNREACHABLE.includes(id) ? UNREACHABLE_ID_PROBLEM : undefined

/** Why a client may not choose this id for something that a path names; `undefined` if it may. */
export const pathIdProblem = (id: string): string | undefined =>
  UNREACHABLE.includes(id) ? UNREACHABLE_ID_PROBLEM : undefined

const NewChatId = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(512),
  v.check((id) => !id.startsWith(RUN_ID_PREFIX), NEW_CHAT_ID_PROBLEM),
  v.check((id) => pathIdProblem(id) === undefined, UNREACHABLE_ID_PROBLEM),
)

export const ChatMessage = documented(
  v.object({
    role: member(MessageRole, 'Author of the message.'),
    text: member(v.string(), 'Beginning of the message on one line, at most 200 characters.'),
    seq: member(Count, 'Position of the message in the transcript of the session.'),
    at: member(Timestamp, 'When the message was written.'),
  }),
  'The newest message of a chat.',
  { role: 'assistant', text: 'It arrives on Monday.', seq: 2, at: '2026-03-02T09:15:02.310Z' },
)

export const Chat = documented(
  v.object({
    chatId: member(v.string(), 'Id of the chat, as the client chose it.'),
    sessionId: member(v.string(), 'Id of the session that the chat is.'),
    agentId: member(v.string(), 'Id of the agent that answers.'),
    owner: member(v.string(), 'Subject of the token that began the chat.'),
    title: member(
      v.string(),
      'The title that somebody gave the chat, else what the agent called it, else the beginning of its first message. Empty without any of them.',
    ),
    lastMessage: member(v.optional(ChatMessage), 'The newest message. Absent when the chat has none.'),
    unread: member(v.boolean(), 'Whether an answer came after the last message that was marked as read.'),
    runId: member(v.optional(v.string()), 'Id of the turn that has not ended. Absent when there is none.'),
    status: member(
      v.picklist(['idle', 'queued', 'running', 'suspended']),
      'What the turn does; `idle` when every turn has ended.',
    ),
    waitingFor: member(
      v.array(WaitingFor),
      'What the turn waits for, such as approvals or input; at most 20. Empty unless `status` is `suspended`.',
    ),
    createdAt: member(Timestamp, 'When the chat began.'),
    updatedAt: member(Timestamp, 'When the newest message was written.'),
  }),
  'A conversation of a user with an agent, as a list shows it.',
  {
    chatId: 'chat-1',
    sessionId: 'x0k5x3v8qk7m2n9b4c6d8f0g1h1',
    agentId: 'support',
    owner: 'svc-web',
    title: 'Where is my parcel?',
    lastMessage: { role: 'assistant', text: 'It arrives on Monday.', seq: 2, at: '2026-03-02T09:15:02.310Z' },
    unread: true,
    runId: RUN_ID,
    status: 'suspended',
    waitingFor: [{ kind: 'approval', name: 'refund', approvalId: APPROVAL_ID }],
    createdAt: '2026-03-02T09:14:58.000Z',
    updatedAt: '2026-03-02T09:15:02.310Z',
  },
)

export const UpdateChatRequest = documented(
  v.pipe(
    strictObject({
      title: member(v.optional(ChatTitle), 'Title to show, 1 to 512 characters. No other title replaces it.'),
      read: member(
        v.optional(v.boolean()),
        '`true` marks every message as read, `false` marks the newest answer as unread.',
      ),
      readThrough: member(
        v.optional(v.pipe(Count, v.maxValue(Number.MAX_SAFE_INTEGER))),
        'Position of the last message that the user has seen, such as `lastMessage.seq`: an answer after it stays unread.',
      ),
    }),
    v.check(
      ({ read, readThrough }) => read === undefined || readThrough === undefined,
      'read and readThrough exclude each other',
    ),
  ),
  'Names a chat, or marks it as read. An absent member stays unchanged.',
  { read: true },
)

export const ForkChatRequest = documented(
  strictObject({
    chatId: member(v.optional(NewChatId), 'Id of the new chat. Default: the generated id of its session.'),
    messageId: member(
      v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
      'Id of a message that the chat shows: the turn of this message is the last one of the new chat. Default: the last turn that has ended.',
    ),
  }),
  'Copies a chat, so that it can go on in two ways.',
  { messageId: `msg_${RUN_ID}` },
)
