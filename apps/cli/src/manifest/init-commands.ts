import { DEFAULT_TEMPLATE, TEMPLATE_NAMES } from 'create-perdure'
import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

export const initCommands: CommandGroup = {
  commands: [
    {
      path: 'init',
      summary: 'create a project that runs without an API key; keeps an existing package.json',
      target: 'none',
      arguments: [
        { name: 'dir', note: 'folder to create the project in (default: the current folder)', optional: true },
      ],
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
  ],
}
