import { CreateSessionRequest, Message, MessageRole, Session, UpdateSessionRequest } from '../resources/sessions.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'
import { RUN_ID } from './runs.ts'

const TITLE = 'Title to show to people, at most 512 characters.'
const METADATA =
  'Labels to filter sessions by: at most 16 keys of up to 128 characters, with values of up to 512 characters.'

export const sessionSchemas = {
  Session: namedObject(Session, {
    description: 'A conversation that groups runs and keeps a transcript.',
    members: {
      id: 'Id of the session, `ses_…` or the id that its creator chose.',
      owner: 'Subject of the token that created the session.',
      title: 'Title to show to people. Absent when the session has none.',
      userId: 'End user to whom the session belongs. Absent when none was named.',
      agentId: 'Id of the agent of the session. Absent when none was named.',
      metadata: 'Labels of the session; an empty object when it has none.',
      createdAt: 'When the session was created.',
      updatedAt: 'When the session last changed.',
    },
    example: {
      id: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
      owner: 'svc-web',
      title: 'Lost parcel',
      userId: 'mia',
      metadata: { channel: 'chat' },
      createdAt: '2026-03-02T09:14:58.000Z',
      updatedAt: '2026-03-02T09:15:02.310Z',
    },
  }),
  CreateSessionRequest: namedObject(CreateSessionRequest, {
    description: 'Creates a session.',
    members: {
      id: 'Id of the session: at most 128 letters, digits, `_` or `-`. Default: a generated id.',
      title: TITLE,
      userId: 'End user to whom the session belongs, 1 to 128 characters.',
      agentId: 'Id of the agent of the session.',
      metadata: METADATA,
    },
    example: { title: 'Lost parcel', userId: 'mia', metadata: { channel: 'chat' } },
  }),
  UpdateSessionRequest: namedObject(UpdateSessionRequest, {
    description: 'Changes a session. An absent member stays unchanged.',
    members: { title: TITLE, metadata: `${METADATA} Replaces all labels.` },
    example: { title: 'Parcel found' },
  }),
  MessageRole: namedValue(MessageRole, {
    description: 'Author of a message: `user` for the input of a run, `assistant` for its result.',
    example: 'user',
  }),
  Message: namedObject(Message, {
    description: 'A message of the transcript of a session.',
    members: {
      id: 'Id of the message, `msg_…`.',
      seq: 'Position of the message in the transcript; increases with time.',
      role: 'Author of the message.',
      content: 'Content of the message: the input or the result of a run.',
      runId: 'Id of the run that wrote the message. Absent when no run did.',
      createdAt: 'When the message was written.',
    },
    example: {
      id: 'msg_01k5x3v8qk7m2n9b4c6d8f0g1h',
      seq: 1,
      role: 'user',
      content: { question: 'Where is my parcel?' },
      runId: RUN_ID,
      createdAt: '2026-03-02T09:15:00.000Z',
    },
  }),
} as const satisfies NamedSchemas
