import type { CommandGroup } from './command-spec.ts'
import { FOLLOWS } from './server-rows.ts'

export const eventsCommands: CommandGroup = {
  summary: 'follow events',
  commands: [
    {
      path: 'events tail',
      summary: 'follow the events of a subject, reconnecting when the connection drops',
      ...FOLLOWS,
      arguments: [{ name: 'subject', note: 'event subject, such as agent:echo/events' }],
      flags: [{ name: 'since', type: 'string', value: 'eventId', note: 'start after this event' }],
      examples: ['perdure events tail agent:echo/events', 'perdure events tail approvals/events --json'],
      load: async () => (await import('../commands/events-command.ts')).eventsTailCommand,
    },
  ],
}
