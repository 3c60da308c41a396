import { createPhase } from '@perdure/core'
import { createAttribution } from './attribution.ts'
import { checkOptions } from './check-options.ts'
import { parseConfig } from './config.ts'
import { createLifecycle } from './lifecycle.ts'
import { readMcpServers } from './mcp-servers.ts'
import type { PerdureServer } from './perdure-server.ts'
import { createRegisteredSkills } from './registered-skills.ts'
import { createRegistries } from './registries.ts'
import type { ServerOptions } from './server-options.ts'
import type { WithTypedRegistrations } from './typed-registrations.ts'

/** Makes a server from a configuration and registrations; nothing is opened before `start`. @throws StartError `config-invalid` */
export async function createServer<Agents extends readonly unknown[], Workflows extends readonly unknown[]>(
  typedOptions: WithTypedRegistrations<ServerOptions, Agents, Workflows> = {},
): Promise<PerdureServer> {
  const options: ServerOptions = typedOptions
  checkOptions(options)
  const config = parseConfig(options.config)
  const attribution = createAttribution()
  const { agents, workflows, registerAgent, registerWorkflow } = createRegistries(options, attribution)
  const lifecycle = createLifecycle({
    config,
    agents,
    workflows,
    triggers: options.triggers ?? [],
    attribution,
    phase: createPhase(),
    registeredSkills: createRegisteredSkills(options.skills ?? []),
    mcpServers: readMcpServers(options.mcpServers ?? []),
    embedder: options.embedder,
    consolidator: options.consolidator ?? {},
    hooks: options.hooks ?? {},
    given: options.adapters ?? {},
    configDir: options.configDir ?? process.cwd(),
  })
  return {
    agents: { register: registerAgent },
    workflows: { register: registerWorkflow },
    ...lifecycle,
  }
}
