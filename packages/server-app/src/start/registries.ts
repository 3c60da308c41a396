import {
  type AgentRegistration,
  createAgentRegistry,
  createLateBound,
  createWorkflowRegistry,
  type RunTarget,
  type ScoringAgentDeps,
  type ScoringOptions,
  scoringAgentOf,
  type WorkflowRegistration,
} from '@perdure/core'
import type { Attribution } from '../compose/attribution.ts'
import { checkRegistration } from './check-options.ts'

interface Registrations {
  readonly agents?: readonly AgentRegistration[] | undefined
  readonly workflows?: readonly WorkflowRegistration[] | undefined
}

/** What the agents that judge runs need of the composed server. */
export interface ScoringBinding {
  bind(deps: ScoringAgentDeps): void
}

/** The agents and workflows of a server, with the agents that judge their runs. @throws StartError `config-invalid` */
export function createRegistries(given: Registrations, attribution: Attribution) {
  const agents = createAgentRegistry()
  const workflows = createWorkflowRegistry()
  const readRun = createLateBound<ScoringAgentDeps['readRun']>('readRun')
  const count = createLateBound<ScoringAgentDeps['count']>('count')
  const scoring: ScoringBinding = {
    bind(deps) {
      readRun.bind(deps.readRun)
      count.bind(deps.count)
    },
  }
  /** Only the default version counts, which is the first. */
  const registerScorers = (versions: readonly RunTarget[], scorers: ScoringOptions | undefined) => {
    const [target, ...others] = versions
    if (scorers === undefined || target === undefined || others.length > 0) return
    const { kind, id } = target
    const deps = { readRun: readRun.call, count: count.call }
    agents.register(attribution.agent(scoringAgentOf({ kind, id, scorers }, deps)))
  }
  const registerAgent = (registration: AgentRegistration) => {
    checkRegistration('agent', registration)
    agents.register(attribution.agent(registration))
    registerScorers(agents.versions(registration.id), registration.scorers)
  }
  const registerWorkflow = (registration: WorkflowRegistration) => {
    checkRegistration('workflow', registration)
    workflows.register(attribution.workflow(registration))
    registerScorers(workflows.versions(registration.id), registration.scorers)
  }
  for (const registration of given.agents ?? []) registerAgent(registration)
  for (const registration of given.workflows ?? []) registerWorkflow(registration)
  return { agents, workflows, scoring, registerAgent, registerWorkflow }
}
