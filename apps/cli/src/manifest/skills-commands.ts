import { status } from '../output/columns.ts'
import type { CommandGroup } from './command-spec.ts'
import { lists } from './operation-rows.ts'

export const skillsCommands: CommandGroup = {
  summary: 'list skills',
  commands: [
    lists('skills.list', {
      path: 'skills list',
      summary: 'list skills',
      examples: ['perdure skills list', 'perdure skills list --json=name,status'],
      columns: {
        SKILL: 'name',
        STATUS: status('status'),
        DESCRIPTION: ({ description, reason }) => reason ?? description,
      },
    }),
  ],
}
