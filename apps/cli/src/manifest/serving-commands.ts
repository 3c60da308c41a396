import { Health, Liveness, Readiness } from '@perdure/protocol'
import { DEFAULT_TEMPLATE, TEMPLATE_NAMES } from 'create-perdure'
import * as v from 'valibot'
import { PrintedFinding } from '../doctor/finding.ts'
import type { CommandSpec, FlagSpec } from './command-spec.ts'

const SERVING_FLAGS: readonly FlagSpec[] = [
  { name: 'host', type: 'string', note: 'listen on this address' },
  { name: 'port', type: 'integer', range: [0, 65_535], note: 'listen on this port; 0 picks a free one' },
  { name: 'demo', type: 'boolean', note: 'register the demo agents echo and digest' },
]

const Listening = v.object({
  event: v.literal('listening'),
  host: v.string(),
  port: v.number(),
  basePath: v.string(),
  /** Only if stdout is a terminal. */
  token: v.optional(v.string()),
  /** File with the token, in its member `token`. Only if stdout is not a terminal. */
  tokenFile: v.optional(v.string()),
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
  v.object({ event: v.literal('minted'), token: v.optional(v.string()), tokenFile: v.optional(v.string()) }),
])

export const servingCommands: readonly CommandSpec[] = [
  {
    path: 'init',
    summary: 'create a project that runs without an API key; keeps an existing package.json',
    target: 'none',
    arguments: [{ name: 'dir', note: 'folder to create the project in (default: the current folder)', optional: true }],
    flags: [
      {
        name: 'template',
        type: 'string',
        value: 'name',
        note: 'start from a workflow with an approval or a chat page, or embed Perdure in an Express or Next.js app',
        choices: TEMPLATE_NAMES,
        default: DEFAULT_TEMPLATE,
      },
      { name: 'yes', type: 'boolean', note: 'do not prompt' },
    ],
    examples: ['perdure init hello --yes', 'perdure init --template embed-express'],
    exits: ['conflict'],
    output: 'document',
    schema: v.object({
      dir: v.string(),
      files: v.array(v.string()),
      kept: v.array(v.string()),
      next: v.array(v.string()),
    }),
    load: async () => (await import('../commands/init-command.ts')).initCommand,
  },
  {
    path: 'dev',
    summary: 'start a development server with its own pepper and token; restarts when a source file changes',
    target: 'storage',
    flags: [
      ...SERVING_FLAGS,
      { name: 'open', type: 'boolean', note: 'open the console in a browser' },
      {
        name: 'inspect',
        type: 'integer',
        value: 'port',
        note: 'let a debugger attach to the server on this port of 127.0.0.1 (without a value: 9229)',
        bare: 9_229,
      },
      {
        name: 'verbose',
        type: 'boolean',
        note: 'log every field of requests and runs, and print the stack trace of an error',
      },
      { name: 'no-watch', type: 'boolean', note: 'do not restart when the configuration or its imports change' },
    ],
    examples: ['perdure dev', 'perdure dev --demo --port 9000'],
    exits: ['unreachable', 'storageFault'],
    output: 'stream',
    schema: v.union([Listening, DevEvent]),
    isService: true,
    load: async () => (await import('../commands/dev-command.ts')).devCommand,
  },
  {
    path: 'server',
    summary: 'start the server; on SIGTERM it drains and stops',
    target: 'storage',
    flags: [
      ...SERVING_FLAGS,
      { name: 'check', type: 'boolean', note: 'check the configuration and its secrets, then exit' },
    ],
    examples: ['perdure server --config perdure.config.mjs', 'perdure server --port 0 --json'],
    exits: ['unreachable', 'storageFault', 'takenOver'],
    output: 'stream',
    schema: v.union([Listening, v.object({ ok: v.literal(true) })]),
    isService: true,
    load: async () => (await import('../commands/server-command.ts')).serverCommand,
  },
  {
    path: 'console',
    summary: 'print a link that opens the web console of a running server and signs in once',
    target: 'server',
    flags: [{ name: 'open', type: 'boolean', note: 'open the link in a browser' }],
    examples: ['perdure console --open', 'perdure console --url https://agents.example.com/v1 --json=url'],
    exits: ['unreachable', 'denied'],
    output: 'document',
    schema: v.object({ url: v.string(), expiresAt: v.optional(v.string()) }),
    load: async () => (await import('../commands/console-command.ts')).consoleCommand,
  },
  {
    path: 'health',
    summary: 'show the health of a running server',
    target: 'server',
    flags: [
      {
        name: 'probe',
        type: 'string',
        note: 'check only liveness, or readiness for new runs',
        choices: ['live', 'ready'],
      },
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
    flags: [{ name: 'fix', type: 'boolean', note: 'make the repairs that cannot lose data, and list them' }],
    examples: ['perdure doctor', 'perdure doctor --fix --json'],
    exits: ['problem'],
    output: 'document',
    schema: v.object({
      ok: v.boolean(),
      checks: v.array(PrintedFinding),
      fixed: v.array(v.string()),
    }),
    load: async () => (await import('../commands/doctor-command.ts')).doctorCommand,
  },
]
