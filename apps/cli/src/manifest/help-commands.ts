import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'

export const helpCommands: readonly CommandSpec[] = [
  {
    path: 'schema',
    summary: 'print the JSON Schema of what a command writes with --json',
    target: 'none',
    arguments: [{ name: 'command', note: 'its words', variadic: true }],
    examples: ['berth schema runs list', 'berth schema doctor > doctor.schema.json'],
    output: 'document',
    schema: v.record(v.string(), v.unknown()),
    load: async () => (await import('../commands/schema-command.ts')).schemaCommand,
  },
  {
    path: 'completion',
    summary: 'print what a shell needs to complete commands and flags',
    target: 'none',
    arguments: [{ name: 'shell', note: 'bash, zsh, fish or pwsh' }],
    examples: ['source <(berth completion bash)', 'berth completion fish > ~/.config/fish/completions/berth.fish'],
    output: 'document',
    schema: v.object({ shell: v.string(), script: v.string() }),
    load: async () => (await import('../commands/completion-command.ts')).completionCommand,
  },
  {
    path: 'version',
    summary: 'show the version',
    target: 'none',
    examples: ['berth version', 'berth version --json'],
    output: 'document',
    schema: v.object({ version: v.string(), node: v.string(), platform: v.string(), arch: v.string() }),
    load: async () => (await import('../commands/version-command.ts')).versionCommand,
  },
  {
    path: 'help',
    summary: 'show help on a command, or on exit-codes, environment, formatting, config or errors/<identifier>',
    target: 'none',
    arguments: [{ name: 'words', note: 'of the command, or the topic', optional: true, variadic: true }],
    examples: ['berth help exit-codes', 'berth help errors/pepper-missing'],
    output: 'document',
    schema: v.object({ help: v.string() }),
    load: async () => (await import('../commands/help-command.ts')).helpCommand,
  },
]
