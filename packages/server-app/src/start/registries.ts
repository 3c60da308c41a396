import {
  type AgentRegistration,
  createAgentRegistry,
  createWorkflowRegistry,
  type WorkflowRegistration,
} from '@perdure/core'
import type { Attribution } from '../compose/attribution.ts'
import { checkRegistration } from './check-options.ts'

interface Registrations {
  readonly agents?: readonly AgentRegistration[] | undefined
  readonly workflows?: readonly WorkflowRegistration[] | undefined
}

/** The agents and workflows of a server. @throws StartError `config-invalid` */
export function createRegistries(given: Registrations, attribution: Attribution) {
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
  for (const registration of given.agents ?? []) registerAgent(registration)
  for (const registration of given.workflows ?? []) registerWorkflow(registration)
  return { agents, workflows, registerAgent, registerWorkflow }
}
