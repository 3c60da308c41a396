import * as v from 'valibot'
import { PrintedFinding } from '../doctor/finding.ts'
import type { CommandGroup } from './command-spec.ts'

const StrandedRuns = v.object({
  checked: v.number(),
  stranded: v.number(),
  items: v.array(
    v.object({ runId: v.string(), target: v.string(), status: v.string(), problem: v.string(), detail: v.string() }),
  ),
})

export const upgradeCommands: CommandGroup = {
  commands: [
    {
      path: 'upgrade',
      summary:
        'say what a start of this release would change in the storage, and which open runs it could not continue',
      target: 'storage',
      flags: [
        {
          name: 'check',
          type: 'boolean',
          note: 'required: the command only checks; the migrations are applied to a copy',
        },
      ],
      examples: ['perdure upgrade --check', 'perdure upgrade --check --json'],
      exits: ['problem'],
      output: 'document',
      schema: v.object({
        version: v.string(),
        ok: v.boolean(),
        checks: v.array(PrintedFinding),
        runs: v.optional(StrandedRuns),
      }),
      load: async () => (await import('../commands/upgrade-command.ts')).upgradeCommand,
    },
  ],
}
