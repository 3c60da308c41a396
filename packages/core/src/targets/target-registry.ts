import { AppError, definedMembers, type RunKind, StartError } from '@perdure/ports'
import { Budget, type ErrorCode, OPERATOR_ID } from '@perdure/protocol'
import { is } from 'valibot'
import type { RegistrationOptions } from './registration.ts'
import type { RunTarget, RunTargets } from './run-target.ts'

/** The registered agents, or workflows, of a server. */
export interface TargetRegistry<Registration> {
  /** @throws StartError `config-invalid` for an invalid id, an id that is taken, or a registration without code */
  register(registration: Registration): void
  /** @throws AppError `agent-not-found` or `workflow-not-found` */
  get(id: string): RunTarget
  find(id: string): RunTarget | undefined
  /** Ordered by id. */
  list(): readonly RunTarget[]
}

/** The differences between agents and workflows. */
export interface TargetKindSpec<Registration> {
  readonly kind: RunKind
  readonly notFound: ErrorCode
  readonly recovery: RunTarget['recovery']
  /** Name of the method that holds the code, as written in a registration. */
  readonly method: string
  callOf(registration: Registration): RunTarget['call'] | undefined
}

type Targets = Pick<TargetRegistry<never>, 'get' | 'find'>

/** Looks up agents and workflows in one place. */
export const targetsOf = (agents: Targets, workflows: Targets): RunTargets => ({
  get: (kind, id) => (kind === 'agent' ? agents : workflows).get(id),
  find: (kind, id) => (kind === 'agent' ? agents : workflows).find(id),
})

export function createRegistry<Registration extends RegistrationOptions>(
  nature: TargetKindSpec<Registration>,
): TargetRegistry<Registration> {
  const targets = new Map<string, RunTarget>()
  const { kind, notFound, recovery, method, callOf } = nature

  return {
    register(registration) {
      const isTaken = targets.has(registration?.id)
      const problem = problemOf(registration) ?? (isTaken ? 'this id is already registered' : undefined)
      const call = problem === undefined ? callOf(registration) : undefined
      if (call === undefined) {
        throw new StartError('config-invalid', {
          message: `${kind} ${JSON.stringify(registration?.id)}: ${problem ?? `${method} must be a function`}`,
          hint: `register { id, description, ${kind}: { id, ${method.split('.')[1]} } } with a unique id`,
        })
      }
      const { id, description } = registration
      targets.set(id, {
        ...DEFAULTS,
        recovery,
        ...definedMembers(optionsOf(registration)),
        kind,
        id,
        description,
        call,
      })
    },
    get(id) {
      const target = targets.get(id)
      if (target === undefined)
        throw new AppError(notFound, { hint: `list the registered ${kind}s with GET /${kind}s` })
      return target
    },
    find: (id) => targets.get(id),
    list: () => [...targets.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

const DEFAULTS = { concurrency: 'parallel', onBusy: 'reject', maxAttempts: 3, tags: [] } as const

const optionsOf = (registration: RegistrationOptions) => {
  const { input, timeoutMs, budget, concurrency, onBusy, recovery, maxAttempts, tags } = registration
  return { input, timeoutMs, budget, concurrency, onBusy, recovery, maxAttempts, tags }
}

const CHOICES = {
  concurrency: ['parallel', 'single', 'session'],
  onBusy: ['reject', 'queue', 'interrupt'],
  recovery: ['fail', 'resume'],
} as const

function problemOf(registration: RegistrationOptions): string | undefined {
  if (typeof registration?.id !== 'string' || !OPERATOR_ID.test(registration.id)) {
    return 'id must start with a letter or digit and contain at most 128 letters, digits, "_" or "-"'
  }
  if (typeof registration.description !== 'string') return 'description must be a string'
  if (registration.input !== undefined && typeof registration.input['~standard']?.validate !== 'function') {
    return 'input must be a Standard Schema'
  }
  if (registration.budget !== undefined && !is(Budget, registration.budget)) {
    return 'budget must contain only the numbers tokens, costUsd, toolCalls and wallClockMs, as in a request body'
  }
  return optionProblemOf(registration)
}

function optionProblemOf(registration: RegistrationOptions): string | undefined {
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
