import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { CHANGES } from './server-rows.ts'

export const benchCommands: CommandGroup = {
  commands: [
    {
      path: 'bench',
      summary: 'measure throughput and latency of an agent; the runs are real and count against the rate limit',
      ...CHANGES,
      arguments: [{ name: 'agent', note: 'id of an agent that is safe to run repeatedly' }],
      flags: [
        { name: 'connections', type: 'integer', value: 'count', note: 'keep this many runs in progress', default: 16 },
        { name: 'duration', type: 'duration', value: 'duration', note: 'start runs for this long', default: '10s' },
        { name: 'input', type: 'string', value: 'input', note: 'send this input: JSON or text, @file, or - for stdin' },
      ],
      examples: [
        'perdure bench echo',
        `perdure bench echo --connections 64 --duration 30s --input '{"text":"hi"}' --json`,
      ],
      schema: v.object({
        agent: v.string(),
        runs: v.number(),
        perSecond: v.number(),
        p50Ms: v.number(),
        p99Ms: v.number(),
        durationMs: v.number(),
        statuses: v.record(v.string(), v.number()),
      }),
      load: async () => (await import('../commands/bench-command.ts')).benchCommand,
    },
  ],
}
