import {
  type AgentRegistration,
  createAgentRegistry,
  createPhase,
  createWorkflowRegistry,
  type WorkflowRegistration,
} from '@berth/core'
import type { ServerConfigInput } from '@berth/protocol'
import type { Adapters } from './adapters.ts'
import type { BerthServer } from './berth-server.ts'
import { type Hooks, parseConfig } from './config.ts'
import { createLifecycle } from './lifecycle.ts'

export interface ServerOptions {
  readonly config?: ServerConfigInput
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
  readonly hooks?: Hooks
  /** Any adapter, to swap it. What is passed in is never closed by the server. */
  readonly adapters?: Partial<Adapters>
  /** What relative paths in the configuration start from; the working directory when missing. */
  readonly configDir?: string
}

/** Makes a server from a configuration and registrations; nothing is opened before `start`. @throws StartError `config-invalid` */
export async function createServer(options: ServerOptions = {}): Promise<BerthServer> {
  const config = parseConfig(options.config)
  const agents = createAgentRegistry()
  for (const registration of options.agents ?? []) agents.register(registration)
  const workflows = createWorkflowRegistry()
  for (const registration of options.workflows ?? []) workflows.register(registration)

  const lifecycle = createLifecycle({
    config,
    agents,
    workflows,
    phase: createPhase(),
    hooks: options.hooks ?? {},
    given: options.adapters ?? {},
    configDir: options.configDir ?? process.cwd(),
  })
  return {
    agents: { register: agents.register },
    workflows: { register: workflows.register },
    ...lifecycle,
  }
}
