import { createPhase, hookTriggers, scoringTriggers } from '@perdure/core'
import { createAttribution } from './compose/attribution.ts'
import { parseConfig } from './config.ts'
import type { PerdureServer } from './perdure-server.ts'
import type { ServerOptions } from './server-options.ts'
import { checkOptions } from './start/check-options.ts'
import { createLifecycle } from './start/lifecycle.ts'
import { readMcpServers } from './start/mcp-servers.ts'
import { createRegisteredSkills } from './start/registered-skills.ts'
import { createRegistries } from './start/registries.ts'
import { readWebhookEndpoints } from './start/webhook-endpoints.ts'
import type { AgentList, WorkflowList } from './typed-registrations.ts'

type List = readonly unknown[]

/** Creates a server. Opens nothing before `start()`. @throws StartError `config-invalid` */
export async function createServer<
  AgentInputs extends List,
  const AgentIds extends readonly string[],
  AgentIn extends List,
  AgentOut extends List,
  WorkflowInputs extends List,
  const WorkflowIds extends readonly string[],
  WorkflowIn extends List,
  WorkflowOut extends List,
>(
  typedOptions: Omit<ServerOptions, 'agents' | 'workflows'> & {
    readonly agents?: AgentList<AgentInputs, AgentIds, AgentIn, AgentOut>
    readonly workflows?: WorkflowList<WorkflowInputs, WorkflowIds, WorkflowIn, WorkflowOut>
  } = {},
): Promise<PerdureServer> {
  const options = typedOptions as ServerOptions
  checkOptions(options)
  const config = parseConfig(options.config)
  const attribution = createAttribution()
  const { agents, workflows, scoring, registerAgent, registerWorkflow } = createRegistries(options, attribution)
  const lifecycle = createLifecycle({
    config,
    agents,
    workflows,
    scoring,
    // Read at the start, because agents can be registered until then.
    get triggers() {
      const scored = scoringTriggers([...agents.list(), ...workflows.list()])
      return [...hookTriggers(config.webhooks.in), ...scored, ...(options.triggers ?? [])]
    },
    attribution,
    phase: createPhase(),
    registeredSkills: createRegisteredSkills(options.skills ?? []),
    mcpServers: readMcpServers(options.mcpServers ?? []),
    webhookEndpoints: readWebhookEndpoints(options.webhookEndpoints ?? []),
    embedder: options.embedder,
    priceUsage: options.priceUsage,
    consolidator: options.consolidator ?? {},
    hooks: options.hooks ?? {},
    given: options.adapters ?? {},
    configDir: options.configDir ?? process.cwd(),
    originOf: options.originOf,
  })
  return {
    agents: { register: registerAgent },
    workflows: { register: registerWorkflow },
    ...lifecycle,
  }
}
