import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { DEPLOYMENTS } from './deployments.ts'

export const deployCommands: CommandGroup = {
  summary: 'print files for proxies, supervisors and containers',
  commands: [
    {
      path: 'deploy print',
      summary: 'print a deployment file: proxy, supervisor, container or monitoring',
      target: 'none',
      arguments: [{ name: 'what', note: Object.keys(DEPLOYMENTS).join(', ') }],
      examples: [
        'perdure deploy print systemd > /etc/systemd/system/perdure.service',
        'perdure deploy print nginx > /etc/nginx/conf.d/perdure.conf',
      ],
      output: 'document',
      schema: v.object({ what: v.string(), file: v.string(), text: v.string() }),
      load: async () => (await import('../commands/deploy-command.ts')).deployPrintCommand,
    },
  ],
}
