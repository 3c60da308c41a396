import { RunOutcome } from '@perdure/protocol'
import { id } from '../output/columns.ts'
import type { CommandGroup } from './command-spec.ts'
import { lists } from './operation-rows.ts'
import type { ItemOf } from './operation-types.ts'
import { CHANGES, START_FLAGS } from './server-rows.ts'

/** `single`, `3`, or `3 per user`. */
function concurrencyText(concurrency: ItemOf<'agents.list'>['concurrency']): string {
  if (typeof concurrency === 'string') return concurrency
  const { limit, key } = concurrency
  return key === undefined ? `${limit}` : `${limit} per ${key === 'function' ? 'key' : key}`
}

export const agentsCommands: CommandGroup = {
  summary: 'list and run agents',
  commands: [
    lists('agents.list', {
      path: 'agents list',
      summary: 'list the registered agents',
      examples: ['perdure agents list', 'perdure agents list --json=id,description'],
      columns: {
        AGENT: id('id'),
        CONCURRENCY: ({ concurrency }) => concurrencyText(concurrency),
        'WHEN BUSY': 'onBusy',
        'ON CRASH': 'onCrash',
        DESCRIPTION: 'description',
      },
    }),
    {
      path: 'agents run',
      summary:
        'run an agent and print its result; exits 3 if the run is waiting for an approval, event or resume; Ctrl-C cancels the run, a second Ctrl-C leaves it running',
      ...CHANGES,
      arguments: [{ name: 'agent', note: 'agent id' }],
      flags: [
        { name: 'input', type: 'string', value: 'input', note: 'send this input: JSON or text, @file, or - for stdin' },
        {
          name: 'stream',
          type: 'boolean',
          note: 'stream the text of the run to stdout and its other events to stderr',
        },
        { name: 'session', type: 'string', value: 'id', note: 'run the agent in this session' },
        ...START_FLAGS,
        { name: 'run-timeout', type: 'duration', value: 'duration', note: 'abort the run after this long' },
        {
          name: 'idempotency-key',
          type: 'string',
          value: 'key',
          note: 'start only one run for all requests with this key',
        },
        { name: 'detach', type: 'boolean', note: 'return as soon as the server has accepted the run' },
      ],
      examples: [
        `perdure agents run echo --input '{"text":"hi"}' --stream`,
        'perdure agents run echo --input @question.json --json=status,result',
      ],
      schema: RunOutcome,
      load: async () => (await import('../commands/agents-run-command.ts')).agentsRunCommand,
    },
  ],
}
