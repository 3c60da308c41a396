import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

const FoundSection = v.object({ title: v.string(), section: v.string(), path: v.string(), line: v.number() })

export const docsCommands: CommandGroup = {
  summary: 'search the documentation',
  commands: [
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
  ],
}
