import { AppError, StartError } from '@berth/ports'
import { OPERATOR_ID } from '@berth/protocol'
import type { AgentRegistration, Concurrency, OnBusy, Recovery } from './agent.ts'

/** A registration with every default filled in. */
export type RegisteredAgent = AgentRegistration & {
  readonly concurrency: Concurrency
  readonly onBusy: OnBusy
  readonly recovery: Recovery
  readonly maxAttempts: number
  readonly tags: readonly string[]
}

export interface AgentRegistry {
  /** @throws StartError `config-invalid` for a bad id, an id that is taken, or an agent without `run` */
  register(registration: AgentRegistration): void
  /** @throws AppError `agent-not-found` */
  get(id: string): RegisteredAgent
  find(id: string): RegisteredAgent | undefined
  /** Ordered by id. */
  list(): readonly RegisteredAgent[]
}

export function createAgentRegistry(): AgentRegistry {
  const agents = new Map<string, RegisteredAgent>()

  return {
    register(registration) {
      const problem =
        problemOf(registration) ?? (agents.has(registration.id) ? 'this id is already registered' : undefined)
      if (problem !== undefined) {
        throw new StartError('config-invalid', {
          message: `agent ${JSON.stringify(registration?.id)}: ${problem}`,
          hint: 'register { id, description, agent: { id, run } } with an id of its own',
        })
      }
      agents.set(registration.id, {
        concurrency: 'parallel',
        onBusy: 'reject',
        recovery: 'fail',
        maxAttempts: 3,
        tags: [],
        ...registration,
      })
    },
    get(id) {
      const agent = agents.get(id)
      if (agent === undefined)
        throw new AppError('agent-not-found', { hint: 'GET /agents lists the registered agents' })
      return agent
    },
    find: (id) => agents.get(id),
    list: () => [...agents.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

const CHOICES = {
  concurrency: ['parallel', 'single', 'session'],
  onBusy: ['reject', 'queue', 'interrupt'],
  recovery: ['fail', 'resume'],
} as const

function problemOf(registration: AgentRegistration): string | undefined {
  if (typeof registration?.id !== 'string' || !OPERATOR_ID.test(registration.id)) {
    return 'id must start with a letter or digit and hold at most 128 letters, digits, "_" or "-"'
  }
  if (typeof registration.description !== 'string') return 'description must be a string'
  if (typeof registration.agent?.run !== 'function') return 'agent.run must be a function'
  if (registration.input !== undefined && typeof registration.input['~standard']?.validate !== 'function') {
    return 'input must be a Standard Schema'
  }
  for (const [name, values] of Object.entries(CHOICES)) {
    const value = registration[name as keyof typeof CHOICES]
    if (value !== undefined && !(values as readonly string[]).includes(value))
      return `${name} must be ${values.join(', ')}`
  }
  for (const name of ['maxAttempts', 'timeoutMs'] as const) {
    const value = registration[name]
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) return `${name} must be a positive integer`
  }
  return undefined
}
