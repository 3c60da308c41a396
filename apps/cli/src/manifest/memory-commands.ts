import { SearchResult } from '@perdure/protocol'
import type { CommandGroup } from './command-spec.ts'
import { answers, deletes } from './operation-rows.ts'
import { READS } from './server-rows.ts'

export const memoryCommands: CommandGroup = {
  summary: 'search and delete facts',
  commands: [
    {
      path: 'memory search',
      summary: 'search facts, best match first',
      ...READS,
      arguments: [{ name: 'query', note: 'words to search for', variadic: true }],
      flags: [
        { name: 'namespace', type: 'string', note: 'search only this namespace' },
        { name: 'limit', type: 'integer', value: 'count', note: 'show at most this many, up to 200', default: 20 },
      ],
      examples: [
        'perdure memory search invoice address',
        'perdure memory search "invoice address" --namespace customers --json',
      ],
      schema: SearchResult,
      load: async () => (await import('../commands/memory-search-command.ts')).memorySearchCommand,
    },
    answers('memory.get-fact', {
      path: 'memory show',
      summary: 'show a fact',
      arguments: [{ name: 'fact', note: 'fact id' }],
      examples: ['perdure memory show mem_01KX3F', 'perdure memory show mem_01KX3F --json=text'],
    }),
    deletes('memory.delete-fact', {
      path: 'memory forget',
      summary: 'delete a fact permanently',
      arguments: [{ name: 'fact', note: 'fact id' }],
      examples: ['perdure memory forget mem_01KX3F', 'perdure memory forget mem_01KX3F --json'],
    }),
  ],
}
