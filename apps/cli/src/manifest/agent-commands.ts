import { Agent, listOf, RunOutcome } from '@perdure/protocol'
import type { CommandSpec } from './command-spec.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

export const agentCommands: readonly CommandSpec[] = [
  {
    path: 'agents list',
    summary: 'list the registered agents',
    ...READS,
    flags: PAGE_FLAGS,
    examples: ['perdure agents list', 'perdure agents list --json=id,description'],
    schema: listOf(Agent),
    load: async () => (await import('../commands/agents-command.ts')).agentsListCommand,
  },
  {
    path: 'agents run',
    summary: 'run an agent; exit code 3 when it waits for somebody; Ctrl-C cancels the run, twice leaves it alone',
    ...CHANGES,
    arguments: [{ name: 'agent', note: 'id of the agent' }],
    flags: [
      { name: 'input', type: 'string', value: 'input', note: 'JSON, or text; @file reads a file, - reads stdin' },
      { name: 'stream', type: 'boolean', note: 'its words on stdout as they come, its other events on stderr' },
      { name: 'session', type: 'string', value: 'id', note: 'session it belongs to' },
      { name: 'run-timeout', type: 'span', value: 'span', note: 'after which the run is aborted' },
      { name: 'idempotency-key', type: 'string', value: 'key', note: 'starts one run however often it is sent' },
      { name: 'detach', type: 'boolean', note: 'answer once the run is accepted' },
    ],
    examples: [
      `perdure agents run echo --input '{"text":"hi"}' --stream`,
      'perdure agents run echo --input @question.json --json=status,result',
    ],
    schema: RunOutcome,
    load: async () => (await import('../commands/agents-run-command.ts')).agentsRunCommand,
  },
]
