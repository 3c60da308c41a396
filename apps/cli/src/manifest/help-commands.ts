import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'

const FoundSection = v.object({ title: v.string(), section: v.string(), path: v.string(), line: v.number() })

export const helpCommands: readonly CommandSpec[] = [
  {
    path: 'docs search',
    summary: 'search the installed guides and reference, without a connection',
    target: 'none',
    arguments: [{ name: 'words', note: 'words to find', variadic: true }],
    flags: [
      { name: 'limit', type: 'integer', note: 'show at most this many sections', default: 10, range: [1, 1_000] },
    ],
    examples: ['perdure docs search wait for an approval', 'perdure docs search onCrash --json=path,line'],
    output: 'document',
    schema: v.object({ items: v.array(FoundSection), nextCursor: v.null() }),
    load: async () => (await import('../commands/docs-command.ts')).docsSearchCommand,
  },
  {
    path: 'schema',
    summary: 'print the JSON Schema of the --json output of a command',
    target: 'none',
    arguments: [{ name: 'command', note: 'words of the command, such as runs list', variadic: true }],
    examples: ['perdure schema runs list', 'perdure schema doctor > doctor.schema.json'],
    output: 'document',
    schema: v.record(v.string(), v.unknown()),
    load: async () => (await import('../commands/schema-command.ts')).schemaCommand,
  },
  {
    path: 'completion',
    summary: 'print a shell completion script',
    target: 'none',
    arguments: [{ name: 'shell', note: 'bash, zsh, fish or pwsh' }],
    examples: [
      'source <(perdure completion bash)',
      'perdure completion fish > ~/.config/fish/completions/perdure.fish',
    ],
    output: 'document',
    schema: v.object({ shell: v.string(), script: v.string() }),
    load: async () => (await import('../commands/completion-command.ts')).completionCommand,
  },
  {
    path: 'version',
    summary: 'show the version',
    target: 'none',
    examples: ['perdure version', 'perdure version --json'],
    output: 'document',
    schema: v.object({ version: v.string(), node: v.string(), platform: v.string(), arch: v.string() }),
    load: async () => (await import('../commands/version-command.ts')).versionCommand,
  },
  {
    path: 'help',
    summary: 'show help for a command or a topic: exit-codes, environment, formatting, config, errors/<identifier>',
    target: 'none',
    arguments: [{ name: 'words', note: 'words of a command, or a topic', optional: true, variadic: true }],
    examples: ['perdure help exit-codes', 'perdure help errors/pepper-missing'],
    output: 'document',
    schema: v.object({ help: v.string() }),
    load: async () => (await import('../commands/help-command.ts')).helpCommand,
  },
]
