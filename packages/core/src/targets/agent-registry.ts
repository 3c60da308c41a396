import type { AgentRegistration } from './agent.ts'
import { createRegistry, type TargetRegistry } from './target-registry.ts'

export type AgentRegistry = TargetRegistry<AgentRegistration>

export const createAgentRegistry = (): AgentRegistry =>
  createRegistry<AgentRegistration>({ kind: 'agent', notFound: 'agent-not-found' })
