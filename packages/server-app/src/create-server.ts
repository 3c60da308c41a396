import {
  type AgentRegistration,
  createAgentRegistry,
  createPhase,
  createWorkflowRegistry,
  type WorkflowRegistration,
} from '@berth/core'
import { createAttribution } from './attribution.ts'
import type { BerthServer } from './berth-server.ts'
import { checkOptions, checkRegistration } from './check-options.ts'
import { parseConfig } from './config.ts'
import { createLifecycle } from './lifecycle.ts'
import { readMcpServers } from './mcp-servers.ts'
import { createRegisteredSkills } from './registered-skills.ts'
import type { ServerOptions } from './server-options.ts'
import type { WithTypedRegistrations } from './typed-registrations.ts'

/** Makes a server from a configuration and registrations; nothing is opened before `start`. @throws StartError `config-invalid` */
export async function createServer<Agents extends readonly unknown[], Workflows extends readonly unknown[]>(
  typedOptions: WithTypedRegistrations<ServerOptions, Agents, Workflows> = {},
): Promise<BerthServer> {
  const options: ServerOptions = typedOptions
  checkOptions(options)
  const config = parseConfig(options.config)
  const attribution = createAttribution()
  const agents = createAgentRegistry()
  const workflows = createWorkflowRegistry()
  const registerAgent = (registration: AgentRegistration) => {
    checkRegistration('agent', registration)
    agents.register(attribution.agent(registration))
  }
  const registerWorkflow = (registration: WorkflowRegistration) => {
    checkRegistration('workflow', registration)
    workflows.register(attribution.workflow(registration))
  }
  for (const registration of options.agents ?? []) registerAgent(registration)
  for (const registration of options.workflows ?? []) registerWorkflow(registration)

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
