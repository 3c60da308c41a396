import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { RUN_ID } from './example-ids.ts'
import { SentMetadata, ShownMetadata } from './metadata.ts'

const Title = v.pipe(v.string(), v.maxLength(512))
const UserId = v.pipe(v.string(), v.minLength(1), v.maxLength(128))

export const Session = documented(
  v.object({
    id: member(v.string(), 'Id of the session, `ses_…` or the id that its creator chose.'),
    owner: member(v.string(), 'Subject of the token that created the session.'),
    title: member(v.optional(v.string()), 'Title to show to people. Absent when the session has none.'),
    userId: member(v.optional(v.string()), 'End user to whom the session belongs. Absent when none was named.'),
    agentId: member(v.optional(v.string()), 'Id of the agent of the session. Absent when none was named.'),
    metadata: member(ShownMetadata, 'Labels of the session; an empty object when it has none.'),
    createdAt: member(Timestamp, 'When the session was created.'),
    updatedAt: member(Timestamp, 'When the session last changed.'),
  }),
  'A conversation that groups runs and keeps a transcript.',
  {
    id: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
    owner: 'svc-web',
    title: 'Lost parcel',
    userId: 'mia',
    metadata: { channel: 'chat' },
    createdAt: '2026-03-02T09:14:58.000Z',
    updatedAt: '2026-03-02T09:15:02.310Z',
  },
)

export type Session = v.InferOutput<typeof Session>

export const CreateSessionRequest = documented(
  strictObject({
    id: member(
      v.optional(OperatorId),
      'Id of the session: at most 128 letters, digits, `_` or `-`. Default: a generated id.',
    ),
    title: member(v.optional(Title), 'Title to show to people, at most 512 characters.'),
    userId: member(v.optional(UserId), 'End user to whom the session belongs, 1 to 128 characters.'),
    agentId: member(v.optional(OperatorId), 'Id of the agent of the session.'),
    metadata: member(
      v.optional(SentMetadata),
      'Labels to filter sessions by: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
    ),
  }),
  'Creates a session.',
  { title: 'Lost parcel', userId: 'mia', metadata: { channel: 'chat' } },
)

export const UpdateSessionRequest = documented(
  strictObject({
    title: member(v.optional(Title), 'Title to show to people, at most 512 characters.'),
    metadata: member(
      v.optional(ShownMetadata),
      'Labels to filter sessions by: at most 16 keys of up to 128 characters, with values of up to 512 characters. Replaces all labels, except for those of the server: their keys start with `interop.`, and they may be sent unchanged.',
    ),
  }),
  'Changes a session. An absent member stays unchanged.',
  { title: 'Parcel found' },
)

export const MessageRole = documented(
  v.picklist(['user', 'assistant']),
  'Author of a message: `user` for the input of a run, `assistant` for its result.',
  'user',
)

export const Message = documented(
  v.object({
    id: member(v.string(), 'Id of the message, `msg_…`.'),
    seq: member(Count, 'Position of the message in the transcript; increases with time.'),
    role: member(MessageRole, 'Author of the message.'),
    content: member(v.unknown(), 'Content of the message: the input or the result of a run.'),
    runId: member(v.optional(v.string()), 'Id of the run that wrote the message. Absent when no run did.'),
    createdAt: member(Timestamp, 'When the message was written.'),
    withdrawn: member(
      v.optional(v.literal(true)),
      '`true` for a message that the conversation no longer shows: its turn was replaced, or it was withdrawn while it waited. Absent for any other message.',
    ),
  }),
  'A message of the transcript of a session.',
  {
    id: 'msg_01k5x3v8qk7m2n9b4c6d8f0g1h',
    seq: 1,
    role: 'user',
    content: { question: 'Where is my parcel?' },
    runId: RUN_ID,
    createdAt: '2026-03-02T09:15:00.000Z',
  },
)
