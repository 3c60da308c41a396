import { ConsoleCode, ConsoleSession, ConsoleTarget, SignInRequest } from '../resources/console.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

export const consoleSchemas = {
  ConsoleCode: namedObject(ConsoleCode, {
    description: 'A code for one sign-in to the console.',
    members: {
      code: 'The code, for the fragment of the console URL: `#code=<value>`. Valid once.',
      expiresAt: 'When the code expires.',
      ttlMs: 'Milliseconds until the code expires.',
    },
    example: { code: 'Zm9vYmFyYmF6', expiresAt: '2026-03-02T09:20:00.000Z', ttlMs: 300_000 },
  }),
  SignInRequest: namedObject(SignInRequest, {
    description: 'A single-use code or an access token: exactly one of the two.',
    members: { code: 'A code from `POST /console/codes`.', token: 'An access token.' },
    example: { code: 'Zm9vYmFyYmF6' },
  }),
  ConsoleTarget: namedObject(ConsoleTarget, {
    description: 'An agent or workflow that the caller may read.',
    members: { id: 'Id of the agent or workflow.', description: 'Purpose of the agent or workflow.' },
    example: { id: 'support', description: 'Answers questions about orders.' },
  }),
  ConsoleSession: namedObject(ConsoleSession, {
    description: 'The session of a caller in the console.',
    members: {
      subject: 'Owner of the runs and other rows that the session creates.',
      scopes: 'Scopes of the session: those of the token that signed in.',
      env: 'Environment of the token; `null` without a token.',
      expiresAt: 'When the session expires. Absent without a session.',
      readOnly: 'Whether the server refuses every change that the session requests (`console.readOnly`).',
      version: 'Version of the server.',
      agents: 'Registered agents that the caller may read.',
      workflows: 'Registered workflows that the caller may read.',
    },
    example: {
      subject: 'ops',
      scopes: ['runs:read', 'approvals:resolve'],
      env: 'live',
      expiresAt: '2026-03-02T21:00:00.000Z',
      readOnly: false,
      version: '0.1.0',
      agents: [{ id: 'support', description: 'Answers questions about orders.' }],
      workflows: [],
    },
  }),
} as const satisfies NamedSchemas
