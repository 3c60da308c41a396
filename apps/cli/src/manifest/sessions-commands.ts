import { EventEnvelope, Message, Session } from '@perdure/protocol'
import * as v from 'valibot'
import { id } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import type { ArgumentSpec, CommandGroup } from './command-spec.ts'
import { lists } from './operation-rows.ts'
import { CHANGING, FOLLOWS, READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'session', note: 'session id, its beginning, or last', idOf: 'session' }

interface ListFlags {
  readonly agent?: string
  readonly user?: string
  readonly metadata?: Readonly<Record<string, string>>
}

export const sessionsCommands: CommandGroup = {
  summary: 'inspect sessions',
  commands: [
    lists('sessions.list', {
      path: 'sessions list',
      summary: 'list sessions, newest first',
      flags: [
        { name: 'agent', type: 'string', value: 'id', note: 'show only sessions with this agentId' },
        { name: 'user', type: 'string', value: 'id', note: 'show only sessions with this userId' },
        {
          name: 'metadata',
          type: 'pairs',
          value: 'key=value',
          note: 'show only sessions with this metadata; up to 3 times',
        },
      ],
      examples: ['perdure sessions list --user ada', 'perdure sessions list --metadata ticket=17 --format ndjson'],
      input: ({ agent, user, metadata }: ListFlags) => ({ agentId: agent, userId: user, metadata }),
      columns: {
        SESSION: id('id'),
        TITLE: 'title',
        AGENT: 'agentId',
        OWNER: 'owner',
        UPDATED: ({ updatedAt }) => relativeText(updatedAt),
      },
    }),
    {
      path: 'sessions show',
      summary: 'show a session with its transcript',
      ...READS,
      arguments: [ID],
      examples: ['perdure sessions show support-42', 'perdure sessions show support-42 --json=messages'],
      schema: v.object({ session: Session, messages: v.array(Message) }),
      load: async () => (await import('../commands/sessions-command.ts')).sessionsShowCommand,
    },
    {
      path: 'sessions tail',
      summary: 'follow the events of a session, reconnecting when the connection drops',
      ...FOLLOWS,
      arguments: [ID],
      flags: [{ name: 'since', type: 'string', value: 'eventId', note: 'start after this event' }],
      examples: ['perdure sessions tail support-42', 'perdure sessions tail support-42 --json'],
      load: async () => (await import('../commands/sessions-command.ts')).sessionsTailCommand,
    },
    {
      path: 'sessions replay',
      summary: 'show the recorded events of a session; the access is recorded in the audit chain',
      target: 'server',
      arguments: [ID],
      flags: [{ name: 'raw', type: 'boolean', note: 'show events unredacted; needs the scope traces:read:raw' }],
      examples: ['perdure sessions replay support-42', 'perdure sessions replay support-42 --json'],
      exits: CHANGING,
      output: 'stream',
      schema: EventEnvelope,
      load: async () => (await import('../commands/runs-replay-command.ts')).sessionsReplayCommand,
    },
  ],
}
