import * as v from 'valibot'
import { PrintedFinding } from '../doctor/finding.ts'
import type { CommandGroup } from './command-spec.ts'

export const doctorCommands: CommandGroup = {
  commands: [
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
  ],
}
