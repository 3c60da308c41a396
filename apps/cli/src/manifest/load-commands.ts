import { Health, Run } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'
import { CHANGES, READS } from './server-rows.ts'

/** How much a server does, and how much it can do. */
export const loadCommands: readonly CommandSpec[] = [
  {
    path: 'top',
    summary: 'show health and the newest runs, anew every two seconds on a terminal',
    ...READS,
    flags: [
      { name: 'interval', type: 'span', value: 'span', note: 'how long one picture stands', default: '2s' },
      { name: 'once', type: 'boolean', note: 'one picture, then the end; so it is without a terminal and with JSON' },
    ],
    examples: ['perdure top', 'perdure top --once --json'],
    schema: v.object({ health: Health, runs: v.array(Run) }),
    load: async () => (await import('../commands/top-command.ts')).topCommand,
  },
  {
    path: 'bench',
    summary: 'run an agent over and over and say how fast; the runs are real, and the rate limit counts them',
    ...CHANGES,
    arguments: [{ name: 'agent', note: 'id of an agent that may be run often' }],
    flags: [
      { name: 'connections', type: 'integer', value: 'count', note: 'runs at once', default: 16 },
      { name: 'duration', type: 'span', value: 'span', note: 'how long to begin new ones', default: '10s' },
      { name: 'input', type: 'string', value: 'input', note: 'JSON, or text; @file reads a file, - reads stdin' },
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
]
