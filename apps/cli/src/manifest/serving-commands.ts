import { Health, Liveness, Readiness } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandSpec, FlagSpec } from './command-spec.ts'

const SERVING_FLAGS: readonly FlagSpec[] = [
  { name: 'host', type: 'string', note: 'address to listen on' },
  { name: 'port', type: 'integer', note: 'port to listen on; 0 for any free one' },
  { name: 'demo', type: 'boolean', note: 'register the demo agents echo and digest' },
]

const Listening = v.object({
  event: v.literal('listening'),
  host: v.string(),
  port: v.number(),
  basePath: v.string(),
  token: v.optional(v.string()),
})

const DevEvent = v.variant('event', [
  v.object({
    event: v.literal('restarted'),
    host: v.string(),
    port: v.number(),
    basePath: v.string(),
    durationMs: v.number(),
    changed: v.array(v.string()),
  }),
  v.object({ event: v.literal('refused'), isServing: v.boolean(), error: v.string(), message: v.string() }),
  v.object({ event: v.literal('ended'), exitCode: v.number() }),
  v.object({ event: v.literal('minted'), token: v.string() }),
])

export const servingCommands: readonly CommandSpec[] = [
  {
    path: 'init',
    summary: 'write a project that runs without an API key',
    target: 'none',
    arguments: [{ name: 'dir', note: 'folder to write to; this one without it', optional: true }],
    flags: [
      {
        name: 'template',
        type: 'string',
        value: 'name',
        note: 'what to write: an agent, a workflow that waits for a human, or an agent of the AI SDK',
        choices: ['basic', 'workflow', 'ai-sdk'],
        default: 'basic',
      },
      { name: 'yes', type: 'boolean', note: 'do not ask' },
    ],
    examples: ['perdure init hello --yes', 'perdure init --template workflow'],
    exits: ['conflict'],
    output: 'document',
    schema: v.object({ dir: v.string(), files: v.array(v.string()) }),
    load: async () => (await import('../commands/init-command.ts')).initCommand,
  },
  {
    path: 'dev',
    summary: 'start a server for one developer: makes a pepper and a token, prints what to try, restarts on a change',
    target: 'storage',
    flags: [
      ...SERVING_FLAGS,
      { name: 'open', type: 'boolean', note: 'open the page of the API in a browser' },
      { name: 'no-watch', type: 'boolean', note: 'do not restart when the configuration or what it imports changes' },
    ],
    examples: ['perdure dev', 'perdure dev --demo --port 9000'],
    exits: ['storageFault'],
    output: 'stream',
    schema: v.union([Listening, DevEvent]),
    isService: true,
    load: async () => (await import('../commands/dev-command.ts')).devCommand,
  },
  {
    path: 'server',
    summary: 'start the server; SIGTERM drains and stops it',
    target: 'storage',
    flags: [
      ...SERVING_FLAGS,
      { name: 'check', type: 'boolean', note: 'validate the configuration and its secrets, then exit' },
    ],
    examples: ['perdure server --config perdure.config.mjs', 'perdure server --port 0 --json'],
    exits: ['storageFault'],
    output: 'stream',
    schema: v.union([Listening, v.object({ ok: v.literal(true) })]),
    isService: true,
    load: async () => (await import('../commands/server-command.ts')).serverCommand,
  },
  {
    path: 'health',
    summary: 'ask a running server how it is',
    target: 'server',
    flags: [
      { name: 'probe', type: 'string', note: 'only whether it lives, or takes new runs', choices: ['live', 'ready'] },
    ],
    examples: ['perdure health', 'perdure health --probe ready --quiet'],
    exits: ['unreachable', 'denied', 'problem'],
    output: 'document',
    schema: v.union([Health, Liveness, Readiness]),
    load: async () => (await import('../commands/health-command.ts')).healthCommand,
  },
  {
    path: 'doctor',
    summary: 'check this machine, the configuration, the secrets and the storage',
    target: 'storage',
    flags: [
      { name: 'fix', type: 'boolean', note: 'repair what can be repaired without a loss, and say what was done' },
    ],
    examples: ['perdure doctor', 'perdure doctor --fix --json'],
    exits: ['problem'],
    output: 'document',
    schema: v.object({
      ok: v.boolean(),
      checks: v.array(
        v.object({
          check: v.string(),
          status: v.picklist(['ok', 'warn', 'fail']),
          message: v.string(),
          fix: v.optional(v.string()),
        }),
      ),
      fixed: v.array(v.string()),
    }),
    load: async () => (await import('../commands/doctor-command.ts')).doctorCommand,
  },
]
